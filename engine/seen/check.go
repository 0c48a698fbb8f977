package seen

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
// No Insert, Cut, Tend or Release may run at the same time.
func (m *Map) Check() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	if m.entries.writing != nil {
		panic("BUG: seen: Check during an Insert")
	}
	written, buffered := m.entries.written, bytes.Clone(m.entries.buf)
	runs, count := slices.Clone(m.runs), m.count
	m.mu.Unlock()
	if len(buffered) > 0 && written == 0 {
		written, buffered = headBytes, buffered[headBytes:]
	}
	var want, have sum
	inRuns := int64(headBytes)
	if len(runs) > 0 {
		inRuns = runs[len(runs)-1].end
	}
	var entries uint64
	err := m.scan(headBytes, written, bytes.NewReader(buffered), func(offset int64, d Digest) error {
		entries++
		if offset >= inRuns {
			return m.checkNew(offset, d)
		}
		want.add(slot{m.hash(d), offset})
		return nil
	})
	if err != nil {
		return err
	}
	if entries != count {
		return m.corrupt(written, fmt.Sprintf("%d entries, the index has %d", entries, count))
	}
	if err := m.checkRuns(runs, &have); err != nil {
		return err
	}
	if want != have {
		return m.corrupt(inRuns, "the runs do not have exactly the entries before this place")
	}
	return nil
}

// checkNew checks that a table has this entry, and no other one with its digest.
func (m *Map) checkNew(offset int64, d Digest) error {
	hash := m.hash(d)
	var p probe
	m.mu.Lock()
	tables := m.appendTables(nil, hash)
	m.mu.Unlock()
	if !slices.Contains(tables, offset) {
		return m.corrupt(offset, "the table does not lead to this entry")
	}
	if whole, err := m.search(&p, hash); err != nil {
		return err
	} else if !whole {
		panic("BUG: seen: Check during a merge")
	}
	for _, o := range append(tables, p.offsets...) {
		if o == offset {
			continue
		}
		if err := m.checkTwins(&p, slot{hash, offset}, slot{hash, o}); err != nil {
			return err
		}
	}
	return nil
}

// checkRuns reads all runs in parallel.
func (m *Map) checkRuns(runs []*run, have *sum) error {
	var from merged
	for _, r := range runs {
		from.sources = append(from.sources, &source{r: r})
	}
	var p probe
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
			s := from.live[i]
			if err := checkFilter(s, v); err != nil {
				return err
			}
			if n > 0 && v.hash == last.hash {
				if err := m.checkTwins(&p, last, v); err != nil {
					return err
				}
			}
			have.add(v)
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
		return s.r.corrupt(
			int64(s.number)*blockBytes,
			fmt.Sprintf("the filter does not admit record %d of segment %d", s.at, s.segment),
		)
	}
	return nil
}

// checkTwins checks that two entries with one hash have different digests.
func (m *Map) checkTwins(p *probe, a, b slot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, _, err := m.read(p, a.offset)
	if err != nil {
		return err
	}
	if _, same, err := m.isAt(p, b.offset, d); err != nil {
		return err
	} else if same {
		return m.corrupt(b.offset, fmt.Sprintf("the entry at byte %d has the same digest", a.offset))
	}
	return nil
}
