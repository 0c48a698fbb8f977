package bvgraph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// The parameters of graphs that are written, and the zeta code of all.
const (
	window      = 7
	chainMax    = 3
	intervalMin = 4
	zetaK       = 3
)

// ErrOrder is returned by Add for successors that do not increase.
var ErrOrder = errors.New("bvgraph: successors do not increase")

// Writer writes a graph node by node.
type Writer struct {
	bits    bitWriter
	offsets bitWriter
	lists   [window + 1][]int64 // those of the last nodes, by number modulo the length
	chains  [window + 1]int     // of references; -1 for an empty list
	stats   Stats
	plan    plan // the cheapest way to write a list
	other   plan
}

// Stats are the numbers of a graph.
type Stats struct {
	Nodes, Arcs                     int64
	Bits                            int64 // of the file of lists
	Copied, Intervalised, Scattered int64 // arcs by the way in which they are written
	Chains, Distances               int64 // sums over nodes
}

// BitsPerLink returns the size of the lists for each arc.
func (s *Stats) BitsPerLink() float64 {
	if s.Arcs == 0 {
		return 0
	}
	return float64(s.Bits) / float64(s.Arcs)
}

// plan is a way to write a list.
type plan struct {
	reference int
	blocks    []int64
	copied    int64
	extras    []int64
	intervals []interval
	residuals []int64
	numbers   []uint64 // after the reference, in order: twice the number, plus 1 for one in the zeta code
	bits      int
}

// interval is a run of successors.
type interval struct{ first, length int64 }

// NewWriter returns a Writer of the content of NAME.graph and NAME.offsets.
func NewWriter(graph, offsets io.Writer) (*Writer, error) {
	w := &Writer{
		bits:    bitWriter{w: bufio.NewWriterSize(graph, 64<<10)},
		offsets: bitWriter{w: bufio.NewWriterSize(offsets, 64<<10)},
	}
	return w, w.offsets.gamma(0)
}

// Add writes the successors of the next node, which must increase.
func (w *Writer) Add(successors []int64) error {
	x := w.stats.Nodes
	at := int(x % (window + 1))
	w.lists[at] = append(w.lists[at][:0], successors...)
	for i, s := range successors {
		if s < 0 || i > 0 && s <= successors[i-1] {
			return fmt.Errorf("%w: node %d", ErrOrder, x)
		}
	}
	before := w.bits.written
	if err := w.bits.gamma(uint64(len(successors))); err != nil {
		return fmt.Errorf("bvgraph: %w", err)
	}
	w.chains[at] = -1
	if len(successors) > 0 {
		w.choose(x, at)
		if err := w.write(); err != nil {
			return fmt.Errorf("bvgraph: %w", err)
		}
	}
	w.stats.Nodes++
	w.stats.Arcs += int64(len(successors))
	w.stats.Bits = w.bits.written
	if err := w.offsets.gamma(uint64(w.bits.written - before)); err != nil {
		return fmt.Errorf("bvgraph: %w", err)
	}
	return nil
}

// choose finds the reference with which the list is shortest.
func (w *Writer) choose(x int64, at int) {
	list := w.lists[at]
	w.plan.make(x, 0, nil, list)
	w.chains[at] = 0
	for r := 1; r <= window && int64(r) <= x; r++ {
		from := (at - r + window + 1) % (window + 1)
		if w.chains[from] < 0 || w.chains[from] >= chainMax {
			continue
		}
		w.other.make(x, r, w.lists[from], list)
		if w.other.copied > 0 && w.other.bits < w.plan.bits {
			w.plan, w.other = w.other, w.plan
			w.chains[at] = w.chains[from] + 1
		}
	}
	w.stats.Chains += int64(w.chains[at])
	w.stats.Distances += int64(w.plan.reference)
}

// make computes how list is written with a reference.
func (p *plan) make(x int64, reference int, from, list []int64) {
	p.reference, p.copied = reference, 0
	p.blocks, p.extras = p.blocks[:0], p.extras[:0]
	i, run, copying := 0, int64(0), true
	for _, ref := range from {
		for i < len(list) && list[i] < ref {
			p.extras = append(p.extras, list[i])
			i++
		}
		isCommon := i < len(list) && list[i] == ref
		if isCommon {
			p.copied++
			i++
		}
		if isCommon != copying {
			p.blocks = append(p.blocks, run)
			run, copying = 0, isCommon
		}
		run++
	}
	// The last block is implied: it is copied, or left out, to the end.
	p.extras = append(p.extras, list[i:]...)
	if reference > 0 && p.copied == 0 {
		return // it is longer than without a reference
	}
	p.intervalise()
	p.encode(x)
}

// intervalise splits the extras.
func (p *plan) intervalise() {
	p.intervals, p.residuals = p.intervals[:0], p.residuals[:0]
	for i := 0; i < len(p.extras); {
		j := i + 1
		for j < len(p.extras) && p.extras[j] == p.extras[j-1]+1 {
			j++
		}
		if j-i >= intervalMin {
			p.intervals = append(p.intervals, interval{p.extras[i], int64(j - i)})
		} else {
			p.residuals = append(p.residuals, p.extras[i:j]...)
		}
		i = j
	}
}

func (p *plan) gamma(v uint64) {
	p.numbers = append(p.numbers, v<<1)
	p.bits += gammaBits(v)
}

func (p *plan) zeta(v uint64) {
	p.numbers = append(p.numbers, v<<1|1)
	p.bits += zetaBits(v)
}

// encode computes the numbers after the reference, and how many bits all take.
func (p *plan) encode(x int64) {
	p.numbers, p.bits = p.numbers[:0], p.reference+1
	if p.reference > 0 {
		p.gamma(uint64(len(p.blocks)))
		for i, b := range p.blocks {
			p.gamma(uint64(b - int64(min(i, 1))))
		}
	}
	if len(p.extras) == 0 {
		return
	}
	p.gamma(uint64(len(p.intervals)))
	var end int64
	for i, v := range p.intervals {
		left := toNatural(v.first - x)
		if i > 0 {
			left = uint64(v.first - end - 1)
		}
		p.gamma(left)
		p.gamma(uint64(v.length - intervalMin))
		end = v.first + v.length
	}
	for i, r := range p.residuals {
		v := toNatural(r - x)
		if i > 0 {
			v = uint64(r - p.residuals[i-1] - 1)
		}
		p.zeta(v)
	}
}

func (w *Writer) write() error {
	p := &w.plan
	w.stats.Copied += p.copied
	w.stats.Scattered += int64(len(p.residuals))
	w.stats.Intervalised += int64(len(p.extras) - len(p.residuals))
	if err := w.bits.unary(uint64(p.reference)); err != nil {
		return err
	}
	for _, v := range p.numbers {
		write := w.bits.gamma
		if v&1 == 1 {
			write = w.bits.zeta
		}
		if err := write(v >> 1); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the last bits. It does not close the files.
func (w *Writer) Close() (Stats, error) {
	if err := errors.Join(w.bits.flush(), w.offsets.flush()); err != nil {
		return w.stats, fmt.Errorf("bvgraph: %w", err)
	}
	return w.stats, nil
}

// WriteProperties writes the content of NAME.properties.
func (s *Stats) WriteProperties(w io.Writer) error {
	nodes := float64(max(s.Nodes, 1))
	_, err := fmt.Fprintf(w, `#BVGraph properties
nodes=%d
arcs=%d
windowsize=%d
maxrefcount=%d
minintervallength=%d
zetak=%d
compressionflags=
avgref=%.3f
avgdist=%.3f
copiedarcs=%d
intervalisedarcs=%d
residualarcs=%d
bitsperlink=%.3f
bitspernode=%.3f
graphclass=it.unimi.dsi.webgraph.BVGraph
version=0
`, s.Nodes, s.Arcs, window, chainMax, intervalMin, zetaK, float64(s.Chains)/nodes, float64(s.Distances)/nodes,
		s.Copied, s.Intervalised, s.Scattered, s.BitsPerLink(), float64(s.Bits)/nodes)
	return err
}
