package logreport

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"orbweaver/internal/vfs"
)

// tally adds numbers up by keys. What does not fit in memory goes to a file, in sorted runs that rows merges.
type tally struct {
	fsys    vfs.FS
	name    string // of the file
	memory  int    // bytes of rows in memory, about
	numbers int    // of each row

	rows map[string]*row
	used int
	file vfs.File // nil until memory was full once
	ends []int64  // of the runs
}

// row is a key with its sums, and an example.
type row struct {
	key     string
	numbers []int64
	example string
}

// rowOverhead is the memory of a row besides its strings and numbers, in bytes, about.
const rowOverhead = 128

func newTally(fsys vfs.FS, name string, memory, numbers int) *tally {
	return &tally{fsys: fsys, name: name, memory: memory, numbers: numbers, rows: map[string]*row{}}
}

// add adds numbers to the row of a key. It borrows all that it gets.
func (t *tally) add(key []byte, numbers []int64, example []byte) error {
	r := t.rows[string(key)]
	if r == nil {
		r = &row{key: string(key), numbers: make([]int64, t.numbers), example: string(example)}
		t.rows[r.key] = r
		t.used += rowOverhead + 2*len(key) + 8*t.numbers + len(example)
	}
	for i, n := range numbers {
		r.numbers[i] += n
	}
	if t.used > t.memory {
		return t.spill()
	}
	return nil
}

func (t *tally) isEmpty() bool { return len(t.rows) == 0 && t.file == nil }

func (t *tally) sorted() []*row {
	rows := slices.Collect(maps.Values(t.rows))
	slices.SortFunc(rows, func(a, b *row) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	return rows
}

// spill writes the rows in memory as one run.
func (t *tally) spill() (err error) {
	if t.file == nil {
		if err := t.fsys.MkdirAll(path.Dir(t.name)); err != nil {
			return fmt.Errorf("logreport: %w", err)
		}
		if t.file, err = t.fsys.Create(t.name); err != nil {
			return fmt.Errorf("logreport: %w", err)
		}
	}
	out, written := bufio.NewWriterSize(t.file, 256<<10), int64(0)
	var b []byte
	for _, r := range t.sorted() {
		b = appendRow(b[:0], r)
		_, _ = out.Write(b) // bufio keeps the first error for Flush
		written += int64(len(b))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("logreport: %w", err)
	}
	if n := len(t.ends); n > 0 {
		written += t.ends[n-1]
	}
	t.ends = append(t.ends, written)
	t.rows, t.used = map[string]*row{}, 0
	return nil
}

func appendRow(b []byte, r *row) []byte {
	for _, text := range []string{r.key, r.example} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	for _, n := range r.numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// each calls f with all rows in the order of their keys. f borrows the row.
func (t *tally) each(f func(r *row) error) error {
	if t.file == nil {
		for _, r := range t.sorted() {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := t.spill(); err != nil {
		return err
	}
	h, begin := runs{}, int64(0)
	for _, end := range t.ends {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(t.file, begin, end-begin), 32<<10), numbers: t.numbers}
		if begin = end; r.next() {
			h = append(h, r)
		} else if r.err != nil {
			return r.err
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		sum := h[0].row
		sum.numbers = slices.Clone(sum.numbers)
		for first := true; len(h) > 0 && h[0].row.key == sum.key; first = false {
			if !first {
				for i, n := range h[0].row.numbers {
					sum.numbers[i] += n
				}
			}
			if h[0].next() {
				heap.Fix(&h, 0)
			} else if err := heap.Pop(&h).(*run).err; err != nil {
				return err
			}
		}
		if err := f(&sum); err != nil {
			return err
		}
	}
	return nil
}

// close removes the file.
func (t *tally) close() error {
	if t.file == nil {
		return nil
	}
	err := errors.Join(t.file.Close(), t.fsys.Remove(t.name))
	t.file = nil
	return err
}

// run is one run in the merge.
type run struct {
	in      *bufio.Reader
	numbers int
	row     row
	err     error
}

// next reads the next row. It returns false at the end, and after an error.
func (r *run) next() bool {
	key, err := r.text()
	if errors.Is(err, io.EOF) {
		return false
	}
	example, more := r.text()
	r.row, r.err = row{key: key, example: example, numbers: make([]int64, r.numbers)}, errors.Join(err, more)
	for i := range r.row.numbers {
		if r.err == nil {
			r.row.numbers[i], r.err = binary.ReadVarint(r.in)
		}
	}
	if r.err != nil {
		r.err = fmt.Errorf("logreport: %w", r.err)
	}
	return r.err == nil
}

func (r *run) text() (string, error) {
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r.in, b)
	return string(b), err
}

// runs implements heap.Interface.
type runs []*run

func (h runs) Len() int           { return len(h) }
func (h runs) Less(i, j int) bool { return h[i].row.key < h[j].row.key }
func (h runs) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *runs) Push(x any) { *h = append(*h, x.(*run)) }

// Pop implements heap.Interface.
func (h *runs) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}
