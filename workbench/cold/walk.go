package cold

// Walk reads the hosts of a Store in pieces, while hosts are put and taken. It passes each host that is in the store
// from BeginWalk on until it is read. It does not pass hosts that are put later. Collect does nothing until End. Only
// one goroutine may use a Walk, but WillPass may be called beside Read.
type Walk struct {
	s     *Store
	files fileWalk
	l     logReader // of the current file
}

// BeginWalk begins a Walk. It waits for the end of a Collect, and of another Walk. The caller must call End.
func BeginWalk(s *Store) (*Walk, error) {
	s.collecting.Lock()
	s.mu.Lock()
	head, tail := s.log.head, s.log.tail
	s.mu.Unlock()
	if err := s.Flush(); err != nil {
		s.collecting.Unlock()
		return nil, err
	}
	return &Walk{s: s, files: fileWalk{s: &s.segments, head: head, tail: tail, segment: head.Segment}}, nil
}

// End ends the Walk.
func (w *Walk) End() { w.s.collecting.Unlock() }

// Read reads the next piece of the log, of 64 KiB or one record. It returns false at the end.
func (w *Walk) Read() (bool, error) {
	for w.l.p.Offset >= w.l.end {
		l, ok, err := w.files.next()
		if !ok || err != nil {
			return false, err
		}
		l.block = w.l.block[:0]
		w.s.mu.Lock() // of WillPass
		w.l = l
		w.s.mu.Unlock()
	}
	return true, w.l.load()
}

// Each calls f with each host of the piece that is still in the store. It reads no file.
func (w *Walk) Each(f func(key, form []byte) error) error {
	for w.l.p.Offset < w.l.end {
		p := w.l.p
		r, ok, err := w.l.nextLoaded()
		if !ok || err != nil {
			return err
		}
		if r.kind != kindHost || !w.has(p, &r) {
			continue
		}
		if err := f(r.key, r.form); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether the record at p is that of a host.
func (w *Walk) has(p Position, r *record) bool {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.s.hosts.has(w.s.hosts.hash(r.key), p)
}

// WillPass reports whether a host is in the store, and Each has yet to pass it.
func (w *Walk) WillPass(key []byte) bool {
	var scratch [2]uint64
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for _, place := range w.s.hosts.table.find(w.s.hosts.hash(key), scratch[:0]) {
		p := w.s.log.position(place)
		if p.before(w.files.tail) && !p.before(w.l.p) {
			return true
		}
	}
	return false
}
