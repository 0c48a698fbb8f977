package workbench

// reconcile updates everything that is derived from the fields of one site: its place in the heaps, the counts, the
// weight and the refill list. Every method calls it after a change. before is the state that was counted last.
func (w *Workbench[S]) reconcile(s *site[S], before State) {
	if s.queue != nil && s.queue.count == 0 {
		w.items.free(&s.queue)
	}
	now := s.state()
	w.sites.states[before]--
	w.sites.states[now]++
	if s.entry != 0 {
		e := w.ips.at(s.entry)
		switch {
		case now == Waiting:
			w.ips.addWaiting(e, s)
		case s.pos != 0:
			w.ips.removeWaiting(e, s)
		}
		w.ips.reconcile(s.entry)
	}
	held := w.held(s)
	if (held > 0) != s.has(flagHolds) {
		s.flags ^= flagHolds
		if held > 0 {
			w.items.holders++
		} else {
			w.items.holders--
		}
	}
	if w.wantsRefill(s) && s.flags&(flagListed|flagRefillGiven) == 0 {
		s.flags |= flagListed
		w.refill.add(s.id)
	}
}

// leaseOf returns the lease of a site whose Visit is out, or nil.
func (w *Workbench[S]) leaseOf(s *site[S]) *lease[S] {
	if !s.has(flagLeased) {
		return nil
	}
	return w.leases.at(w.ips.at(s.entry).lease)
}

// held returns the number of items of the site in memory, including those in its Visit.
func (w *Workbench[S]) held(s *site[S]) int {
	n := s.queued()
	if l := w.leaseOf(s); l != nil {
		n += len(l.items)
	}
	return n
}

func (w *Workbench[S]) wantsRefill(s *site[S]) bool {
	return s.onDisk > 0 && s.placement == addressed && !s.has(flagParked) && w.held(s) < minItemsInMemory
}
