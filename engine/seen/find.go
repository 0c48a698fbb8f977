package seen

import "slices"

// find looks up d. If insert is not nil and d is not known, it inserts it.
//
// It searches the tables first and then the runs, because digests of the frozen table appear in a run before they leave
// the table. An insertion needs one moment at which two things hold: neither table has the digest, and no table has
// become a run since the runs were searched.
func (m *Map) find(d Digest, insert *First) (first First, fresh, found bool, err error) {
	hash := m.hash(d)
	var room [4]int64
	known := room[:0] // offsets with the same hash that have proved to be of other digests
	asked, askedAt := false, uint64(0)
	m.mu.Lock()
	m.stats.Lookups++
	p := m.getProbe()
	defer func() {
		m.putProbe(p)
		m.mu.Unlock()
	}()
	for {
		if m.closed {
			return First{}, false, false, ErrClosed
		}
		p.offsets = m.appendTables(p.offsets[:0], hash)
		if next, ok := unproved(p.offsets, known); ok {
			first, same, err := m.isAt(p, next, d)
			if err != nil || same {
				return first, false, same, m.hit(err)
			}
			known = append(known, next)
			continue
		}
		if !asked || askedAt != m.epoch {
			asked, askedAt = true, m.epoch
			m.mu.Unlock()
			first, found, err := m.findInRuns(p, hash, d)
			m.mu.Lock()
			if err != nil || found {
				return first, false, found, m.hit(err)
			}
			continue
		}
		if insert == nil {
			return First{}, false, false, nil
		}
		if waited, err := m.makeRoom(); err != nil {
			return First{}, false, false, err
		} else if waited {
			continue // another goroutine may have inserted it
		}
		return *insert, true, false, m.insert(hash, d, insert)
	}
}

// hit counts one unless there was an error. mu is held.
func (m *Map) hit(err error) error {
	if err == nil {
		m.stats.Hits++
	}
	return err
}

// insert adds a digest for which there is room. The caller holds mu, which is released only when the digest is in the
// map.
func (m *Map) insert(hash uint64, d Digest, f *First) error {
	at := m.entries.end()
	if at > offsetMax {
		return ErrFull
	}
	m.filling.insert(hash, at)
	m.entries.buf = appendEntry(m.entries.buf, at, d, *f)
	m.count++
	m.stats.Fresh++
	if len(m.entries.buf) >= m.o.BufferBytes && m.entries.writing == nil {
		_ = m.write() // counted, and kept for the next try: the digest is in the map whatever the disk says
	}
	return nil
}

// appendTables needs mu.
func (m *Map) appendTables(dst []int64, hash uint64) []int64 {
	dst = m.filling.appendOffsets(dst, hash)
	if m.frozen != nil {
		dst = m.frozen.appendOffsets(dst, hash)
	}
	return dst
}

// unproved returns an offset that is not known to be another digest's.
func unproved(offsets, known []int64) (int64, bool) {
	for _, o := range offsets {
		if !slices.Contains(known, o) {
			return o, true
		}
	}
	return 0, false
}

// findInRuns asks all runs. mu is not held.
func (m *Map) findInRuns(p *probe, hash uint64, d Digest) (First, bool, error) {
	for {
		p.reads, p.errs, p.offsets = 0, 0, p.offsets[:0]
		whole, err := m.search(p, hash)
		m.reads.blocks.Add(p.reads)
		m.reads.errors.Add(p.errs)
		if err != nil {
			return First{}, false, err
		}
		if whole {
			break
		}
	}
	for _, at := range p.offsets {
		m.mu.Lock()
		first, same, err := m.isAt(p, at, d)
		m.mu.Unlock()
		if err != nil || same {
			return first, same, err
		}
	}
	return First{}, false, nil
}

// search appends the offsets of a hash in all runs. It reports false when a merge went on meanwhile: ask again.
func (m *Map) search(p *probe, hash uint64) (whole bool, err error) {
	m.reading.RLock()
	defer m.reading.RUnlock()
	v := m.view.Load()
	runs := v.runs
	if v.m != nil && int32(hash>>segmentShift) < v.m.done.Load() {
		runs = runs[:v.kept]
		if whole, err := v.m.out.search(p, hash); !whole {
			return false, err
		}
	}
	for _, r := range runs {
		if whole, err := r.search(p, hash); !whole {
			return false, err
		}
	}
	return true, nil
}

// isAt reads the entry at an offset and reports whether it is d's: N1. mu is held, but not while the disk is read.
func (m *Map) isAt(p *probe, offset int64, d Digest) (First, bool, error) {
	have, first, err := m.read(p, offset)
	if err != nil || have == d {
		return first, err == nil, err
	}
	if m.hash(have) != m.hash(d) {
		return First{}, false, m.corrupt(offset, "the index leads to the entry of another digest")
	}
	m.reads.collisions.Add(1)
	return First{}, false, nil
}
