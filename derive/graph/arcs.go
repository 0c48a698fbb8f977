package graph

import (
	"bufio"
	"container/heap"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"orbweaver/internal/vfs"
)

// arc is an arc between two numbers.
type arc struct{ from, to uint64 }

// appendArc appends an arc: the distance of its source from that of the one before, then the target, or its distance.
func appendArc(dst []byte, before, a arc) []byte {
	gap := a.from - before.from
	if gap == 0 {
		a.to -= before.to
	}
	return binary.AppendUvarint(binary.AppendUvarint(dst, gap), a.to)
}

// arcCursor reads the arcs that appendArc has written to a part of a file.
type arcCursor struct {
	in     *bufio.Reader
	unread int64
	arc    // the present one
}

// arcMost is the length of the longest encoded arc.
const arcMost = 2 * binary.MaxVarintLen64

func newArcCursor(file vfs.File, begin, end, arcs int64) *arcCursor {
	section := io.NewSectionReader(file, begin, end-begin)
	return &arcCursor{in: bufio.NewReaderSize(section, cursorBytes), unread: arcs}
}

// next reads the next arc; false behind the last. ok is false if it cannot be read.
func (c *arcCursor) next() (more, ok bool) {
	if c.unread == 0 {
		return false, true
	}
	c.unread--
	b, _ := c.in.Peek(arcMost) // fewer at the end
	gap, n := binary.Uvarint(b)
	to, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return false, false
	}
	_, _ = c.in.Discard(n + m)
	if gap == 0 {
		to += c.to
	}
	c.arc = arc{c.from + gap, to}
	return true, true
}

// Before is the order of a cursorHeap.
func (c *arcCursor) Before(other *arcCursor) bool { return c.from < other.from }

// arcRuns are the arcs of a graph in a temporary file: a sorted run for each run of a part. The nodes of a run increase
// with its names, so its arcs are still in order when they have the numbers of the graph.
type arcRuns struct {
	fsys   vfs.FS
	file   vfs.File
	buffer []byte
	end    int64 // of the file, with what is in buffer
	last   arc
	runs   []arcRun
	n      int64 // arcs of all runs
}

// arcRun is the place of a run.
type arcRun struct{ begin, end, arcs int64 }

func newArcRuns(fsys vfs.FS, name string) (*arcRuns, error) {
	f, err := fsys.Create(name)
	return &arcRuns{fsys: fsys, file: f}, err
}

// begin begins the next run.
func (r *arcRuns) begin() {
	r.runs = append(r.runs, arcRun{begin: r.end, end: r.end})
	r.last = arc{}
}

// arcsBatch is how many bytes are written at a time.
const arcsBatch = 64 << 10

// add adds an arc to the run at hand.
func (r *arcRuns) add(a arc) error {
	before := len(r.buffer)
	r.buffer = appendArc(r.buffer, r.last, a)
	r.last = a
	r.n++
	run := &r.runs[len(r.runs)-1]
	run.arcs++
	r.end += int64(len(r.buffer) - before)
	if run.end = r.end; len(r.buffer) < arcsBatch {
		return nil
	}
	return r.flush()
}

func (r *arcRuns) flush() error {
	_, err := r.file.WriteAt(r.buffer, r.end-int64(len(r.buffer)))
	r.buffer = r.buffer[:0]
	return err
}

// eachNode merges the runs. f gets each node that has arcs, in order, with its successors, each once. It borrows them.
func (r *arcRuns) eachNode(ctx context.Context, f func(node int64, successors []int64) error) error {
	if err := r.flush(); err != nil {
		return err
	}
	h := make(cursorHeap[*arcCursor], 0, len(r.runs))
	for _, run := range r.runs {
		c := newArcCursor(r.file, run.begin, run.end, run.arcs)
		more, ok := c.next()
		switch {
		case !ok:
			return corrupt(r.file, run.begin, "bad arc")
		case more:
			h = append(h, c)
		}
	}
	heap.Init(&h)
	var successors []int64
	for n := 0; len(h) > 0; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		node, runs := h[0].from, 0
		for successors = successors[:0]; len(h) > 0 && h[0].from == node; runs++ {
			c := h[0]
			more, ok := true, true
			for more && c.from == node {
				successors = append(successors, int64(c.to))
				more, ok = c.next()
			}
			switch {
			case !ok:
				return corrupt(r.file, 0, "bad arc")
			case more:
				heap.Fix(&h, 0)
			default:
				heap.Pop(&h)
			}
		}
		if runs > 1 {
			slices.Sort(successors)
			successors = slices.Compact(successors)
		}
		if err := f(int64(node), successors); err != nil {
			return err
		}
	}
	return nil
}

// close removes the file.
func (r *arcRuns) close() error {
	name := r.file.Name()
	if err := r.file.Close(); err != nil {
		return err
	}
	return r.fsys.Remove(name)
}
