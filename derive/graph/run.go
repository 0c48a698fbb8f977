package graph

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// partMagic begins a file of runs. It has the number of the form.
const partMagic = "OWGR1\n"

// runCoder encodes a run: a header of numbers, then the names, then the arcs.
type runCoder struct {
	names, arcs []byte
	lastName    []byte // borrowed
	lastArc     arc
}

func (r *runCoder) begin() {
	r.names, r.arcs, r.lastName, r.lastArc = r.names[:0], r.arcs[:0], nil, arc{}
}

// name appends a name: the length that it shares with the one before, twice, plus 1 if it is stored; the rest.
func (r *runCoder) name(name []byte, isStored bool) {
	same := 0
	for same < min(len(name), len(r.lastName)) && name[same] == r.lastName[same] {
		same++
	}
	head := uint64(same) << 1
	if isStored {
		head |= 1
	}
	r.names = binary.AppendUvarint(r.names, head)
	r.names = binary.AppendUvarint(r.names, uint64(len(name)-same))
	r.names = append(r.names, name[same:]...)
	r.lastName = name
}

// arc appends an arc.
func (r *runCoder) arc(a arc) {
	r.arcs = appendArc(r.arcs, r.lastArc, a)
	r.lastArc = a
}

func (r *runCoder) write(w io.Writer, kind, names, arcs int) error {
	var head []byte
	for _, n := range []int{kind, names, arcs, len(r.names), len(r.arcs)} {
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	for _, b := range [][]byte{head, r.names, r.arcs} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// runHeaderBytes is the length of the header of a run.
const runHeaderBytes = 5 * 8

// runAt is a run in a file.
type runAt struct {
	file            vfs.File
	names, arcs     int64
	namesAt, arcsAt int64
	end             int64
}

// part is an open file of runs.
type part struct {
	file vfs.File
	runs [kinds][]runAt
}

// corrupt is an error for a file of runs.
func corrupt(f vfs.File, offset int64, format string, args ...any) error {
	return &vfs.CorruptError{File: f.Name(), Offset: offset, What: fmt.Sprintf(format, args...)}
}

// openPart opens a file of runs and finds the runs.
func openPart(fsys vfs.FS, name string) (*part, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	p := &part{file: f}
	if err := p.find(); err != nil {
		_ = f.Close() // opened for reading
		return nil, err
	}
	return p, nil
}

func (p *part) find() error {
	size, err := p.file.Size()
	if err != nil {
		return err
	}
	magic := make([]byte, len(partMagic))
	if _, err := p.file.ReadAt(magic, 0); err != nil || string(magic) != partMagic {
		return corrupt(p.file, 0, "no file of runs")
	}
	var head [runHeaderBytes]byte
	for at := int64(len(partMagic)); at < size; {
		if _, err := p.file.ReadAt(head[:], at); err != nil {
			return corrupt(p.file, at, "the header of a run is not whole")
		}
		var n [5]int64
		for i := range n {
			n[i] = int64(binary.BigEndian.Uint64(head[8*i:]))
			if n[i] < 0 || i > 2 && n[i] > size || i == 1 && n[i] > 1<<32 {
				return corrupt(p.file, at, "bad header of a run")
			}
		}
		if n[0] >= kinds {
			return corrupt(p.file, at, "unknown graph %d", n[0])
		}
		r := runAt{file: p.file, names: n[1], arcs: n[2], namesAt: at + runHeaderBytes}
		r.arcsAt = r.namesAt + n[3]
		r.end = r.arcsAt + n[4]
		if r.end > size {
			return corrupt(p.file, at, "a run is not whole")
		}
		p.runs[n[0]] = append(p.runs[n[0]], r)
		at = r.end
	}
	return nil
}

// nameMax is the length of the longest name in bytes.
const nameMax = 1 << 16

// nameCursor reads the names of a run.
type nameCursor struct {
	run      *runAt
	number   int // of the run among all
	r        *bufio.Reader
	unread   int64
	name     []byte
	isStored bool
}

// cursorBytes is the buffer of a cursor.
const cursorBytes = 16 << 10

func newNameCursor(run *runAt, number int) *nameCursor {
	section := io.NewSectionReader(run.file, run.namesAt, run.arcsAt-run.namesAt)
	return &nameCursor{run: run, number: number, r: bufio.NewReaderSize(section, cursorBytes), unread: run.names}
}

// next reads the next name; false at the end.
func (c *nameCursor) next() (bool, error) {
	if c.unread == 0 {
		return false, nil
	}
	c.unread--
	head, err := binary.ReadUvarint(c.r)
	var length uint64
	if err == nil {
		length, err = binary.ReadUvarint(c.r)
	}
	same := head >> 1
	if err != nil || same > uint64(len(c.name)) || length > nameMax {
		return false, corrupt(c.run.file, c.run.namesAt, "bad name in a run")
	}
	before := len(c.name)
	c.name = append(c.name[:same], make([]byte, length)...)
	c.isStored = head&1 == 1
	if _, err := io.ReadFull(c.r, c.name[same:]); err != nil {
		return false, corrupt(c.run.file, c.run.namesAt, "bad name in a run: %d bytes after %d", length, before)
	}
	return true, nil
}

// Before is the order of a cursorHeap.
func (c *nameCursor) Before(other *nameCursor) bool { return bytes.Compare(c.name, other.name) < 0 }

// eachArc calls f with the arcs of a run in order.
func (r *runAt) eachArc(f func(arc) error) error {
	c := newArcCursor(r.file, r.arcsAt, r.end, r.arcs)
	for {
		more, ok := c.next()
		switch {
		case !ok, more && (c.from >= uint64(r.names) || c.to >= uint64(r.names)):
			return corrupt(r.file, r.arcsAt, "bad arc in a run")
		case !more:
			return nil
		}
		if err := f(c.arc); err != nil {
			return err
		}
	}
}

// cursorHeap orders cursors.
type cursorHeap[C interface{ Before(other C) bool }] []C

func (h cursorHeap[C]) Len() int           { return len(h) }
func (h cursorHeap[C]) Less(i, j int) bool { return h[i].Before(h[j]) }
func (h cursorHeap[C]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push and Pop are those of package heap.
func (h *cursorHeap[C]) Push(x any) {
	*h = append(*h, x.(C)) //nolint:forcetypeassert // only cursors are pushed
}

// Pop removes the last one.
func (h *cursorHeap[C]) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
