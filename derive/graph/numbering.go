package graph

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"

	"orbweaver/internal/vfs"
)

// eachName merges the names of runs. f gets each name once, with the numbers of the runs that have it. f borrows both.
func eachName(ctx context.Context, runs []runAt, f func(name []byte, isStored bool, in []int) error) error {
	h := make(cursorHeap[*nameCursor], 0, len(runs))
	for i := range runs {
		c := newNameCursor(&runs[i], i)
		more, err := c.next()
		if err != nil {
			return err
		}
		if more {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	var name []byte
	var in []int
	for n := 0; len(h) > 0; n++ {
		if n%4096 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		name = append(name[:0], h[0].name...)
		in = in[:0]
		isStored := false
		for len(h) > 0 && bytes.Equal(h[0].name, name) {
			c := h[0]
			in = append(in, c.number)
			isStored = isStored || c.isStored
			more, err := c.next()
			switch {
			case err != nil:
				return err
			case more && bytes.Compare(c.name, name) <= 0:
				return corrupt(c.run.file, c.run.namesAt, "the names of a run are not sorted")
			case more:
				heap.Fix(&h, 0)
			default:
				heap.Pop(&h)
			}
		}
		if err := f(name, isStored, in); err != nil {
			return err
		}
	}
	return nil
}

// numbering says, for each run, which node each of its names is. The numbers of a run increase with its names, so they
// are kept as gaps, in blocks of one file.
type numbering struct {
	fsys vfs.FS
	file vfs.File
	end  int64
	runs []runNumbers
}

// runNumbers are the numbers of one run.
type runNumbers struct {
	buffer []byte
	blocks []block
	last   int64
}

// block is a part of the file.
type block struct {
	at     int64
	length int
}

// blockBytes is the length at which a block is written.
const blockBytes = 4096

func newNumbering(fsys vfs.FS, name string, runs int) (*numbering, error) {
	f, err := fsys.Create(name)
	if err != nil {
		return nil, err
	}
	return &numbering{fsys: fsys, file: f, runs: make([]runNumbers, runs)}, nil
}

// add says which node the next name of a run is; -1 for none.
func (n *numbering) add(run int, node int64) error {
	r := &n.runs[run]
	gap := uint64(0)
	if node >= 0 {
		gap = uint64(node + 1 - r.last)
		r.last = node + 1
	}
	r.buffer = binary.AppendUvarint(r.buffer, gap)
	if len(r.buffer) < blockBytes {
		return nil
	}
	return n.flush(r)
}

func (n *numbering) flush(r *runNumbers) error {
	if _, err := n.file.WriteAt(r.buffer, n.end); err != nil {
		return err
	}
	r.blocks = append(r.blocks, block{n.end, len(r.buffer)})
	n.end += int64(len(r.buffer))
	r.buffer = r.buffer[:0]
	return nil
}

// load appends the nodes of a run to dst, -1 for names that are none.
func (n *numbering) load(dst []int64, run int) ([]int64, error) {
	r := &n.runs[run]
	if err := n.flush(r); err != nil {
		return nil, err
	}
	last := int64(0)
	buffer := make([]byte, 0, blockBytes+binary.MaxVarintLen64)
	for _, b := range r.blocks {
		buffer = buffer[:b.length]
		if _, err := n.file.ReadAt(buffer, b.at); err != nil {
			return nil, fmt.Errorf("reading %s: %w", n.file.Name(), err)
		}
		for rest := buffer; len(rest) > 0; {
			gap, used := binary.Uvarint(rest)
			if used <= 0 {
				return nil, corrupt(n.file, b.at, "bad number")
			}
			rest = rest[used:]
			if gap == 0 {
				dst = append(dst, -1)
				continue
			}
			last += int64(gap)
			dst = append(dst, last-1)
		}
	}
	return dst, nil
}

// close removes the file.
func (n *numbering) close() error {
	name := n.file.Name()
	if err := n.file.Close(); err != nil {
		return err
	}
	return n.fsys.Remove(name)
}
