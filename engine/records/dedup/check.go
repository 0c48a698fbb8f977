package dedup

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

func isCorrupt(err error) bool { return errors.Is(err, vfs.ErrCorrupt) }

// sum is a set of slots, independent of their order.
type sum struct{ lo, hi, n uint64 }

func (s *sum) add(v slot) {
	var b [16]byte
	for i := range 8 {
		b[i], b[8+i] = byte(v.hash>>(8*i)), byte(uint64(v.offset)>>(8*i))
	}
	h := xxh3.Hash128(b[:])
	s.lo, s.hi, s.n = s.lo+h.Lo, s.hi+h.Hi, s.n+1
}

// Check reads all files and the buffer sequentially. It checks each entry and record, and that the runs have exactly
// their entries and the table the rest. It also checks that the filters contain all, and that no digest occurs twice.
// No Insert, Checkpoint, Tend or Release may run at the same time.
func (m *Map) Check() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	if m.log.writing != nil {
		panic("BUG: dedup: Check during an Insert")
	}
	written, buffered := m.log.snapshot()
	c := checker{m: m, runs: slices.Clone(m.index.runs.live), begin: headBytes}
	count := m.index.count
	m.mu.Unlock()
	if len(buffered) > 0 && written == 0 {
		written, buffered = headBytes, buffered[headBytes:]
	}
	if len(c.runs) > 0 {
		c.begin = c.runs[len(c.runs)-1].end
	}
	if err := m.log.scan(headBytes, written, bytes.NewReader(buffered), c.checkEntry); err != nil {
		return err
	}
	if c.want.n+c.inTables != count {
		return m.log.corrupt(written, fmt.Sprintf("%d entries, the index has %d", c.want.n+c.inTables, count))
	}
	if err := c.checkRuns(); err != nil {
		return err
	}
	if c.want != c.have {
		return m.log.corrupt(c.begin, "the runs do not have exactly the entries before this place")
	}
	return nil
}

// checker compares the entries of a map with its index.
type checker struct {
	m        *Map
	runs     []*run
	begin    int64 // where the entries begin that are in no run
	want     sum   // of the entries before begin
	have     sum   // of the records of the runs
	inTables uint64
	probe    probe
}

// checkEntry checks an entry. One that belongs into a run is added to want only.
func (c *checker) checkEntry(offset int64, d Digest) error {
	if offset >= c.begin {
		c.inTables++
		return c.checkInTables(offset, d)
	}
	c.want.add(slot{c.m.hash(d), offset})
	return nil
}

// checkInTables checks that a table has this entry, and no other one with its digest.
func (c *checker) checkInTables(offset int64, d Digest) error {
	hash := c.m.hash(d)
	c.m.mu.Lock()
	offsets := c.m.index.tables.appendOffsets(nil, hash)
	c.m.mu.Unlock()
	if !slices.Contains(offsets, offset) {
		return c.m.log.corrupt(offset, "the table does not lead to this entry")
	}
	c.probe.offsets = c.probe.offsets[:0]
	if whole, err := c.m.index.runs.search(&c.probe, hash); err != nil {
		return err
	} else if !whole {
		panic("BUG: dedup: Check during a merge")
	}
	for _, other := range append(offsets, c.probe.offsets...) {
		if other == offset {
			continue
		}
		if err := c.checkTwins(slot{hash, offset}, slot{hash, other}); err != nil {
			return err
		}
	}
	return nil
}

// checkRuns reads all runs in parallel.
func (c *checker) checkRuns() error {
	var from merged
	for _, r := range c.runs {
		from.sources = append(from.sources, &source{r: r})
	}
	for segment := range segments {
		if err := from.enter(segment, nil); err != nil {
			return err
		}
		var last slot
		for n := 0; ; n++ {
			v, i := from.least()
			if i == -2 {
				break
			}
			if err := checkFilter(from.live[i], v); err != nil {
				return err
			}
			if n > 0 && v.hash == last.hash {
				if err := c.checkTwins(last, v); err != nil {
					return err
				}
			}
			c.have.add(v)
			last = v
			if err := from.advance(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFilter checks that the filter contains the current record of the source.
func checkFilter(s *source, v slot) error {
	f := s.r.segs[s.segment].filter.Load()
	if f == nil {
		return nil // a merge has released it
	}
	if from, to := f.find(v.hash); int(s.at) < from || int(s.at) >= to {
		return s.r.corrupt(int64(s.number)*blockBytes,
			fmt.Sprintf("the filter does not admit record %d of segment %d", s.at, s.segment))
	}
	return nil
}

// checkTwins checks that two entries with one hash have different digests.
func (c *checker) checkTwins(a, b slot) error {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	d, _, err := c.m.log.read(&c.probe, a.offset)
	if err != nil {
		return err
	}
	if _, same, err := c.m.isAt(&c.probe, b.offset, d); err != nil {
		return err
	} else if same {
		return c.m.log.corrupt(b.offset, fmt.Sprintf("the entry at byte %d has the same digest", a.offset))
	}
	return nil
}
