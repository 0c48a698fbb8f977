package dedup

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	// stepRecords is how many records one step of a merge moves: some 30 microseconds.
	stepRecords = 512
	// writeBytes is how much a merge collects before it writes.
	writeBytes = 64 << 10
	// tierRatio: a run is merged with what is younger when it is at most so many times as large. So there are few runs
	// to look into, each digest is written some eight times at 10^8, and old runs have most of the digests.
	tierRatio = 3
	errorsOne = 128
)

// merge makes one run of the frozen table and the youngest runs, in small steps. Segments that are done are looked up
// in the new run at once, and the filters of the old runs let go of them, so that there is never a second copy of all
// filters. After an error the step that failed may be repeated; nothing is lost by it.
type merge struct {
	inputs []*run // oldest first
	frozen *table
	out    *run
	bits   int          // kept of each hash
	done   atomic.Int32 // segments that are in out

	from    merged
	memory  []slot
	entered bool
	filter  *filter
	put     int // keys of this segment
	block   []byte
	records int

	buf []byte
	at  int64 // where in the file buf belongs

	filters int // whose filters are written
	sums    [segments]uint64
	closed  bool // the footer is in buf

	work, worked uint64 // for pacing
	written      uint64 // records
}

// tier returns how many of the runs, oldest first, stay as they are when n digests come.
func tier(runs []*run, n uint64) int {
	kept := len(runs)
	for kept > 0 && runs[kept-1].keys <= tierRatio*n {
		kept--
		n += runs[kept].keys
	}
	return kept
}

// bitsFor is how many of the first bits of its hashes a run of n keys keeps in its filters: so many that all digests
// together err for one hash in errorsOne to twice that, whichever runs they are in. With less memory they are fewer.
func bitsFor(n, all uint64, memory int64) int {
	want := bits.Len64(errorsOne*all - 1)
	// A key takes at most 2.2 bits beside those that its bucket does not tell.
	have := int(memory*80/int64(n)-22)/10 + segmentBits + log2(int(n/segments))
	return min(want, have)
}

// widthFor is what is kept of each key of a segment beside its bucket.
func widthFor(keys uint32, kept int) uint {
	return uint(max(0, min(kept-segmentBits-log2(int(keys)), widthMax)))
}

func newMerge(file vfs.File, serial uint64, inputs []*run, frozen *table, end int64) *merge {
	g := &merge{inputs: inputs, frozen: frozen, block: make([]byte, blockBytes)}
	g.out = &run{file: file, serial: serial, end: end}
	counts := frozen.segmentCounts()
	g.out.keys = uint64(frozen.used)
	for _, r := range inputs {
		g.from.sources = append(g.from.sources, &source{r: r})
		g.out.keys += r.keys
		for i := range counts {
			counts[i] += r.segs[i].keys
		}
	}
	for i := range g.out.segs {
		g.out.segs[i].keys = counts[i]
	}
	g.work = g.out.keys + segments*g.filterWork()
	return g
}

// filterWork is what writing one filter counts beside moving records.
func (g *merge) filterWork() uint64 { return g.out.keys/segments/8 + 1 }

// step does a bounded piece of work and reports whether the run is complete.
func (g *merge) step() (complete bool, err error) {
	if len(g.buf) >= writeBytes || g.closed {
		if err := g.flush(); err != nil {
			return false, err
		}
	}
	segment := int(g.done.Load())
	switch {
	case g.closed:
		g.out.bytes = g.at
		return true, nil
	case segment == segments:
		g.writeFilter()
		return false, nil
	case g.out.segs[segment].keys == 0:
		g.done.Add(1)
		return false, nil
	case !g.entered:
		return false, g.enter(segment)
	}
	return false, g.move(segment)
}

func (g *merge) flush() error {
	if len(g.buf) == 0 {
		return nil
	}
	if _, err := g.out.file.WriteAt(g.buf, g.at); err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	g.at += int64(len(g.buf))
	g.buf = g.buf[:0]
	return nil
}

func (g *merge) enter(segment int) error {
	g.memory = g.frozen.appendSegment(g.memory[:0], segment)
	if err := g.from.enter(segment, g.memory); err != nil {
		return err
	}
	s := &g.out.segs[segment]
	width := widthFor(s.keys, g.bits)
	s.block, s.width = g.out.blocks, uint8(width)
	g.filter, g.put, g.entered = newFilter(int(s.keys), width), 0, true
	return nil
}

// move moves some records, and ends the segment behind the last.
func (g *merge) move(segment int) error {
	for range stepRecords {
		v, from := g.from.least()
		if from == -2 {
			return g.leave(segment)
		}
		if err := g.from.advance(from); err != nil {
			return err
		}
		if g.put == g.filter.keys {
			panic("BUG: dedup: a segment has more records than its inputs")
		}
		g.filter.put(g.put, v.hash)
		g.put++
		putRecord(g.block, g.records, v)
		if g.records++; g.records == blockRecords {
			g.endBlock()
		}
		g.worked++
	}
	return nil
}

func (g *merge) endBlock() {
	if g.records == 0 {
		return
	}
	sealBlock(g.block, g.out.serial, g.out.blocks, g.records)
	g.buf = append(g.buf, g.block...)
	clear(g.block)
	g.written += uint64(g.records)
	g.records = 0
	g.out.blocks++
}

// leave puts the segment into use. Its blocks are in the file before.
func (g *merge) leave(segment int) error {
	g.endBlock()
	if err := g.flush(); err != nil {
		return err
	}
	if g.put != g.filter.keys || !g.filter.end() {
		panic("BUG: dedup: a segment has fewer records than its inputs")
	}
	g.out.segs[segment].filter.Store(g.filter)
	g.filter, g.entered = nil, false
	g.done.Add(1)
	for _, r := range g.inputs {
		r.segs[segment].filter.Store(nil)
	}
	return nil
}

// writeFilter writes the next filter, or what comes behind the last.
func (g *merge) writeFilter() {
	if g.filters == segments {
		g.buf = g.out.appendFooter(g.buf, &g.sums)
		g.closed = true
		return
	}
	if f := g.out.segs[g.filters].filter.Load(); f != nil {
		at := len(g.buf)
		for _, w := range f.kept() {
			g.buf = binary.LittleEndian.AppendUint64(g.buf, w)
		}
		g.sums[g.filters] = xxh3.Hash(g.buf[at:])
	}
	g.filters++
	g.worked += g.filterWork()
}
