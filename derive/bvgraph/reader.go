package bvgraph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Properties are what a Reader must know of a graph: the content of NAME.properties.
type Properties struct {
	Nodes, Arcs int64
	// Window is the number of nodes before a node that its list may refer to.
	Window int
	// IntervalMin is the least length of an interval, 0 if there are none.
	IntervalMin int64
}

// windowMax is the largest window that is read.
const windowMax = 1 << 10

// ReadProperties reads the content of NAME.properties. A graph with other codes than the usual ones is an error.
func ReadProperties(r io.Reader) (p Properties, err error) {
	values := map[string]string{
		"windowsize": strconv.Itoa(window), "minintervallength": strconv.Itoa(intervalMin), "zetak": strconv.Itoa(zetaK),
	}
	lines := bufio.NewScanner(io.LimitReader(r, 1<<20))
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	if err := lines.Err(); err != nil {
		return p, fmt.Errorf("bvgraph: %w", err)
	}
	if flags := values["compressionflags"]; flags != "" {
		return p, fmt.Errorf("bvgraph: compression flags %q are not supported", flags)
	}
	if values["zetak"] != strconv.Itoa(zetaK) {
		return p, fmt.Errorf("bvgraph: zeta codes with k = %s are not supported", values["zetak"])
	}
	for _, n := range []struct {
		key  string
		to   *int64
		most int64
	}{{"nodes", &p.Nodes, 1 << 48}, {"arcs", &p.Arcs, 1 << 62}, {"minintervallength", &p.IntervalMin, 1 << 31}} {
		*n.to, err = strconv.ParseInt(values[n.key], 10, 64)
		if err != nil || *n.to < 0 || *n.to > n.most {
			return p, fmt.Errorf("%w: %s=%q", ErrCorrupt, n.key, values[n.key])
		}
	}
	p.Window, err = strconv.Atoi(values["windowsize"])
	if err != nil || p.Window < 0 || p.Window > windowMax {
		return p, fmt.Errorf("%w: windowsize=%q", ErrCorrupt, values["windowsize"])
	}
	return p, nil
}

// Reader reads the lists of a graph in order.
type Reader struct {
	p     Properties
	bits  bitReader
	next  int64
	lists [][]int64

	copied, extras []int64
}

// NewReader returns a Reader of the content of NAME.graph.
func NewReader(r io.Reader, p Properties) *Reader {
	return &Reader{p: p, bits: bitReader{r: bufio.NewReaderSize(r, 256<<10)}, lists: make([][]int64, p.Window+1)}
}

// Next returns the successors of the next node, io.EOF after the last one. The list is valid until the next call.
func (r *Reader) Next() ([]int64, error) {
	if r.next == r.p.Nodes {
		return nil, io.EOF
	}
	x := r.next
	r.next++
	at := int(x % int64(len(r.lists)))
	degree := int64(r.bits.gamma())
	if degree > r.p.Nodes {
		r.bits.fail("node %d has %d successors", x, degree)
	}
	if r.bits.err == nil && degree > 0 {
		r.read(x, at, degree)
	} else {
		r.lists[at] = r.lists[at][:0]
	}
	if r.bits.err != nil {
		return nil, r.bits.err
	}
	return r.lists[at], nil
}

// read reads the list of a node that has successors.
func (r *Reader) read(x int64, at int, degree int64) {
	r.copied, r.extras = r.copied[:0], r.extras[:0]
	if r.p.Window > 0 {
		reference := int64(r.bits.unary(uint64(r.p.Window)))
		if reference > x {
			r.bits.fail("node %d refers to a node before the first", x)
			return
		}
		if reference > 0 {
			r.copy(r.lists[(x-reference)%int64(len(r.lists))])
		}
	}
	left := degree - int64(len(r.copied))
	if left < 0 {
		r.bits.fail("node %d copies more than its %d successors", x, degree)
	}
	if left > 0 && r.p.IntervalMin > 0 {
		left = r.readIntervals(x, left)
	}
	intervals := len(r.extras)
	previous := x
	for i := int64(0); i < left && r.bits.err == nil; i++ {
		if i == 0 {
			previous += fromNatural(r.bits.zeta())
		} else {
			previous += int64(r.bits.zeta()) + 1
		}
		r.extras = append(r.extras, r.check(x, previous))
	}
	if r.bits.err != nil {
		return
	}
	merge(&r.lists[at], r.copied, r.extras[:intervals], r.extras[intervals:])
	for i, s := range r.lists[at] {
		if i > 0 && s == r.lists[at][i-1] {
			r.bits.fail("node %d has a successor twice", x)
		}
	}
}

// check returns a successor that is a node.
func (r *Reader) check(x, successor int64) int64 {
	if successor < 0 || successor >= r.p.Nodes {
		r.bits.fail("node %d has the successor %d of %d nodes", x, successor, r.p.Nodes)
	}
	return successor
}

// copy reads the blocks and copies those parts of a list.
func (r *Reader) copy(from []int64) {
	blocks := r.bits.gamma()
	if blocks > uint64(len(from))+1 {
		r.bits.fail("%d blocks of a list of %d", blocks, len(from))
		return
	}
	copying := true
	for i := range blocks {
		n := r.bits.gamma()
		if i > 0 {
			n++
		}
		if n > uint64(len(from)) || r.bits.err != nil {
			r.bits.fail("blocks beyond a list")
			return
		}
		if copying {
			r.copied = append(r.copied, from[:n]...)
		}
		from = from[n:]
		copying = !copying
	}
	if copying {
		r.copied = append(r.copied, from...)
	}
}

// readIntervals appends the intervals to the extras, and returns how many successors are left.
func (r *Reader) readIntervals(x, left int64) int64 {
	count := r.bits.gamma()
	end := x
	for i := range count {
		if r.bits.err != nil {
			return 0
		}
		if i == 0 {
			end += fromNatural(r.bits.gamma())
		} else {
			end += int64(r.bits.gamma()) + 1
		}
		length := int64(r.bits.gamma()) + r.p.IntervalMin
		if length > left {
			r.bits.fail("node %d has intervals beyond its successors", x)
			return 0
		}
		r.check(x, end)
		r.check(x, end+length-1)
		for j := range length {
			r.extras = append(r.extras, end+j)
		}
		left -= length
		end += length
	}
	return left
}

// merge merges three increasing lists into dst.
func merge(dst *[]int64, a, b, c []int64) {
	out := (*dst)[:0]
	for len(a)+len(b)+len(c) > 0 {
		least := &a
		if len(a) == 0 || len(b) > 0 && b[0] < a[0] {
			least = &b
		}
		if len(*least) == 0 || len(c) > 0 && c[0] < (*least)[0] {
			least = &c
		}
		out = append(out, (*least)[0])
		*least = (*least)[1:]
	}
	*dst = out
}
