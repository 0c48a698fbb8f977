package cold

import "fmt"

// wasteful says that more of the log is garbage than should be (H4). The caller holds mu.
func (s *Store) wasteful() bool { return s.log > 2*s.live+2*s.o.SegmentBytes }

// Collect reads on from the head of the log, up to step bytes and one record, moves what is still in to the tail and lets go of
// the rest. It returns how many bytes it went through, 0 when there is nothing to do. One caller at a time.
func (s *Store) Collect(step int64) (done int64, err error) {
	s.mu.Lock()
	idle := !s.wasteful()
	s.mu.Unlock()
	if idle {
		return 0, nil
	}
	if err := s.Flush(); err != nil {
		return 0, err
	}
	l, ok, err := s.atHead()
	if !ok || err != nil {
		return 0, err
	}
	for done < step && l.p.Offset < l.end {
		p := l.p
		r, err := l.next()
		if err != nil {
			return done, err
		}
		s.pass(p, &r)
		done += r.size
	}
	if l.p.Offset >= l.end {
		s.mu.Lock()
		s.head = Position{s.head.Segment + 1, segmentHead}
		s.mu.Unlock()
		done++
	}
	if s.Buffered() {
		err = s.Flush()
	}
	return done, err
}

// atHead returns a reader of the oldest file, unless there is nothing to be gained or it is still being written.
func (s *Store) atHead() (l logReader, ok bool, err error) {
	s.mu.Lock()
	f, p := s.files[s.head.Segment], s.head
	ok = s.wasteful() && f != nil && s.head.Segment < s.tail.Segment &&
		(len(s.chunks) == 0 || s.chunks[0].from.Segment > s.head.Segment)
	s.mu.Unlock()
	if !ok {
		return l, false, nil
	}
	end, err := f.Size()
	if err != nil {
		return l, false, fmt.Errorf("cold: collect: %w", err)
	}
	return logReader{s: s, f: f, p: p, end: end}, true, nil
}

// pass moves a host that is still in from the head to the tail. The head is behind the record then.
func (s *Store) pass(p Position, r *record) {
	hash := uint64(0)
	if r.kind == kindHost {
		hash = s.hash(r.key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.kind == kindHost && s.table.has(hash, placeOf(p)) {
		to, _ := s.append(kindHost, r.key, r.form)
		s.table.replace(hash, placeOf(p), placeOf(to))
	}
	s.head.Offset += r.size
	s.log -= r.size
}
