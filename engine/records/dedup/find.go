package dedup

import "slices"

// Lookup returns the first record with this digest. The error is that of the disk, or wraps vfs.ErrCorrupt.
func (m *Map) Lookup(d Digest) (First, bool, error) {
	f, _, found, err := m.find(d, nil)
	return f, found, err
}

// Insert maps d to f unless d is known: then fresh is false and first is the earlier record. Of several concurrent
// Inserts of one digest, one wins. After an error nothing has changed, and the call may be repeated.
func (m *Map) Insert(d Digest, f First) (first First, fresh bool, err error) {
	if len(f.URI) > URIBytesMax {
		return First{}, false, ErrURI
	}
	if !dated(f.Date) {
		return First{}, false, ErrDate
	}
	f.Date = f.Date.UTC()
	first, fresh, _, err = m.find(d, &f)
	return first, fresh, err
}

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
	m.usage.lookups++
	p := m.probes.get()
	defer func() {
		m.probes.put(p)
		m.mu.Unlock()
	}()
	for {
		if m.closed {
			return First{}, false, false, ErrClosed
		}
		p.offsets = m.index.tables.appendOffsets(p.offsets[:0], hash)
		if next, ok := unproved(p.offsets, known); ok {
			first, same, err := m.isAt(p, next, d)
			if err != nil || same {
				return first, false, same, m.hit(err)
			}
			known = append(known, next)
			continue
		}
		if !asked || askedAt != m.index.tables.epoch {
			asked, askedAt = true, m.index.tables.epoch
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
		m.usage.hits++
	}
	return err
}

// makeRoom returns at once if buffer and table are within their limits. Otherwise it writes or merges, or waits for the
// goroutine that does. Then waited is true, and the state may have changed. The caller holds mu.
func (m *Map) makeRoom() (waited bool, err error) {
	for m.log.isOverfull() {
		waited = true
		if err := m.log.writeOrWait(); err != nil {
			return true, err
		}
		if m.closed {
			return true, ErrClosed
		}
	}
	if !m.index.tables.filling.full() {
		return waited, nil
	}
	if m.index.tables.frozen == nil {
		m.index.tables.freeze(m.log.end())
		return waited, nil
	}
	m.mu.Unlock()
	defer m.mu.Lock()
	return true, m.index.completeMerge()
}

// insert adds a digest for which there is room. The caller holds mu, which is released only when the digest is in the
// map.
func (m *Map) insert(hash uint64, d Digest, f *First) error {
	at := m.log.end()
	if at > offsetMax {
		return ErrFull
	}
	m.index.add(hash, at)
	m.usage.fresh++
	m.log.append(d, f)
	return nil
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

// findInRuns looks up d in all runs. mu is not held.
func (m *Map) findInRuns(p *probe, hash uint64, d Digest) (First, bool, error) {
	if err := m.index.searchRuns(p, hash); err != nil {
		return First{}, false, err
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

// isAt reads the entry at an offset and reports whether it is d's: Y1. mu is held, but not while the disk is read.
func (m *Map) isAt(p *probe, offset int64, d Digest) (First, bool, error) {
	have, first, err := m.log.read(p, offset)
	if err != nil || have == d {
		return first, err == nil, err
	}
	if m.hash(have) != m.hash(d) {
		return First{}, false, m.log.corrupt(offset, "the index leads to the entry of another digest")
	}
	m.collisions.Add(1)
	return First{}, false, nil
}

// probe is the memory of one lookup.
type probe struct {
	block   [blockBytes]byte
	entry   []byte
	offsets []int64
	reads   uint64 // blocks
	errs    uint64 // of them, for nothing
}

// probePool keeps probes for later lookups, so that a lookup allocates nothing. The Map's mu guards it.
type probePool []*probe

func (pool *probePool) get() *probe {
	n := len(*pool)
	if n == 0 {
		return new(probe)
	}
	p := (*pool)[n-1]
	*pool = (*pool)[:n-1]
	return p
}

// put takes a probe back, unless a long entry has made it large.
func (pool *probePool) put(p *probe) {
	if cap(p.entry) <= 4*readFirst {
		*pool = append(*pool, p)
	}
}
