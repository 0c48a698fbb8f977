package cold

import "fmt"

// needsCollect reports whether the log contains more garbage than H4 allows. The caller holds mu.
func (s *Store) needsCollect() bool { return s.log.bytes > 2*s.hosts.bytes+2*s.log.segmentBytes }

// Collect reads from the head of the log, at most step bytes and one record more. It copies the hosts that are still in
// the store to the tail and drops the rest. It returns the number of bytes read, or 0 if there is nothing to do, or
// during a Walk. Only one goroutine may call Collect at a time.
func (s *Store) Collect(step int64) (done int64, err error) {
	if !s.collecting.TryLock() {
		return 0, nil
	}
	defer s.collecting.Unlock()
	s.mu.Lock()
	idle := !s.needsCollect()
	s.mu.Unlock()
	if idle {
		return 0, nil
	}
	if err := s.Flush(); err != nil {
		return 0, err
	}
	l, ok, err := s.headReader()
	if !ok || err != nil {
		return 0, err
	}
	for done < step && l.p.Offset < l.end {
		p := l.p
		r, err := l.next()
		if err != nil {
			return done, err
		}
		s.collectRecord(p, &r)
		done += r.size
	}
	if l.p.Offset >= l.end {
		s.mu.Lock()
		s.log.skipFile()
		s.mu.Unlock()
		done++
	}
	if s.Buffered() {
		err = s.Flush()
	}
	return done, err
}

// headReader returns a reader of the oldest file. ok is false if there is not enough garbage, or if that file is still
// being written.
func (s *Store) headReader() (l logReader, ok bool, err error) {
	s.mu.Lock()
	p := s.log.head
	ok = s.needsCollect() && s.log.headComplete()
	s.mu.Unlock()
	f := s.segments.file(p.Segment)
	if !ok || f == nil {
		return l, false, nil
	}
	end, err := f.Size()
	if err != nil {
		return l, false, fmt.Errorf("cold: collect: %w", err)
	}
	return logReader{s: &s.segments, f: f, p: p, end: end}, true, nil
}

// collectRecord copies a host that is still in the store from the head to the tail, and moves the head past the record.
func (s *Store) collectRecord(p Position, r *record) {
	hash := uint64(0)
	if r.kind == kindHost {
		hash = s.hosts.hash(r.key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.kind == kindHost && s.hosts.has(hash, p) {
		to, _ := s.log.append(kindHost, r.key, r.form)
		s.hosts.move(hash, p, to)
	}
	s.log.skip(r.size)
}
