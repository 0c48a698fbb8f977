package extsort

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"

	"orbweaver/internal/vfs"
)

// Entry is an element, ordered by Hi, then Lo, then Tag.
type Entry struct{ Hi, Lo, Tag uint64 }

// Compare is the order.
func Compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Tag, b.Tag))
}

const entryBytes = 24

// Options configure a Sorter.
type Options struct {
	// File is the name of a file that only this Sorter uses. Its directory is created if missing.
	File string
	// MemoryBytes is the memory of the buffer, and later of the merge. Default 64 MiB, at least 64 KiB.
	MemoryBytes int
}

const (
	memoryDefault = 64 << 20
	memoryMin     = 64 << 10
	readMin       = 4 << 10 // of one run in the merge
)

// WithDefaults returns a copy with the zeros replaced.
func (o Options) WithDefaults() Options {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = memoryDefault
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	if o.File == "" {
		faults = append(faults, errors.New("extsort: no file"))
	}
	if o.MemoryBytes < memoryMin {
		faults = append(faults, fmt.Errorf("extsort: %d bytes of memory, at least %d are needed", o.MemoryBytes, memoryMin))
	}
	return errors.Join(faults...)
}

// Sorter sorts. See the package's page.
type Sorter struct {
	fsys vfs.FS
	o    Options
	buf  []Entry
	file vfs.File // nil until the buffer was full once
	ends []int64  // of the runs in the file
	n    int64
}

// New makes a Sorter. It touches no file yet.
func New(fsys vfs.FS, o Options) (*Sorter, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Sorter{fsys: fsys, o: o}, nil
}

// Len is the number of entries.
func (s *Sorter) Len() int64 { return s.n }

// Add takes one entry.
func (s *Sorter) Add(e Entry) error {
	if len(s.buf) == s.o.MemoryBytes/entryBytes {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, e)
	s.n++
	return nil
}

// spill writes the buffer as one run.
func (s *Sorter) spill() (err error) {
	if s.file == nil {
		if err := s.fsys.MkdirAll(path.Dir(s.o.File)); err != nil {
			return fmt.Errorf("extsort: %w", err)
		}
		if s.file, err = s.fsys.Create(s.o.File); err != nil {
			return fmt.Errorf("extsort: %w", err)
		}
	}
	slices.SortFunc(s.buf, Compare)
	out := bufio.NewWriterSize(s.file, 256<<10)
	var b [entryBytes]byte
	for _, e := range s.buf {
		binary.LittleEndian.PutUint64(b[0:], e.Hi)
		binary.LittleEndian.PutUint64(b[8:], e.Lo)
		binary.LittleEndian.PutUint64(b[16:], e.Tag)
		_, _ = out.Write(b[:]) // bufio keeps the first error for Flush
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("extsort: %w", err)
	}
	end := int64(len(s.buf)) * entryBytes
	if n := len(s.ends); n > 0 {
		end += s.ends[n-1]
	}
	s.ends = append(s.ends, end)
	s.buf = s.buf[:0]
	return nil
}

// Sorted gives all entries in order, those that are equal as often as they were added. After an error it ends. It may
// be called once.
func (s *Sorter) Sorted() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if s.file == nil {
			slices.SortFunc(s.buf, Compare)
			for _, e := range s.buf {
				if !yield(e, nil) {
					return
				}
			}
			return
		}
		if err := s.merge(yield); err != nil {
			yield(Entry{}, fmt.Errorf("extsort: %w", err))
		}
	}
}

// merge reads all runs side by side.
func (s *Sorter) merge(yield func(Entry, error) bool) error {
	if err := s.spill(); err != nil {
		return err
	}
	s.buf = nil
	var h runs
	begin := int64(0)
	room := max(s.o.MemoryBytes/len(s.ends), readMin)
	for _, end := range s.ends {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(s.file, begin, end-begin), room)}
		begin = end
		switch err := r.next(); {
		case err == nil:
			h = append(h, r)
		case err != io.EOF: //nolint:errorlint // io.Reader's own word
			return err
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if !yield(h[0].head, nil) {
			return nil
		}
		err := h[0].next()
		if err == io.EOF { //nolint:errorlint // io.Reader's own word
			heap.Pop(&h)
			continue
		}
		if err != nil {
			return err
		}
		heap.Fix(&h, 0)
	}
	return nil
}

// Close removes the file.
func (s *Sorter) Close() error {
	s.buf = nil
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), s.fsys.Remove(s.o.File))
	s.file = nil
	if err != nil {
		return fmt.Errorf("extsort: %w", err)
	}
	return nil
}

// run is one run under the merge.
type run struct {
	in   *bufio.Reader
	head Entry
}

func (r *run) next() error {
	var b [entryBytes]byte
	if _, err := io.ReadFull(r.in, b[:]); err != nil {
		return err
	}
	r.head = Entry{
		Hi: binary.LittleEndian.Uint64(b[0:]), Lo: binary.LittleEndian.Uint64(b[8:]), Tag: binary.LittleEndian.Uint64(b[16:]),
	}
	return nil
}

// runs implements heap.Interface.
type runs []*run

func (h runs) Len() int           { return len(h) }
func (h runs) Less(i, j int) bool { return Compare(h[i].head, h[j].head) < 0 }
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
