package workbench

// The weight of a site and an item besides the bytes: see Weight.
const (
	itemOverhead     = 8
	siteOverhead     = 96
	minItemsInMemory = 2 // a site with fewer items in memory and some on disk is refilled
)

func itemWeight(n int) int64 { return int64(prefixLen(n)+n) + itemOverhead }

// reconcile updates everything that is derived from the fields of one site: its place in the heaps, the counts, the
// weight and the refill list. Every method calls it after a change. before is the state that was counted last.
func (w *Workbench[S]) reconcile(s *site[S], before State) {
	if s.queue != nil && s.queue.count == 0 {
		w.freeQueue(s)
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
			w.holders++
		} else {
			w.holders--
		}
	}
	if w.wantsRefill(s) && s.flags&(flagListed|flagRefillGiven) == 0 {
		s.flags |= flagListed
		w.refill = append(w.refill, s.id)
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

func (w *Workbench[S]) queueOf(s *site[S]) *pathQueue {
	if s.queue == nil {
		if n := len(w.freeQueues); n > 0 {
			s.queue, w.freeQueues = w.freeQueues[n-1], w.freeQueues[:n-1]
		} else {
			s.queue = new(pathQueue)
		}
	}
	return s.queue
}

// maxSpare is the number of unused queues and heaps that are kept for reuse.
const maxSpare = 4096

// freeQueue removes the empty queue of a site. Small queues are kept for reuse.
func (w *Workbench[S]) freeQueue(s *site[S]) {
	if len(s.queue.buf) <= 512 && len(w.freeQueues) < maxSpare {
		*s.queue = pathQueue{buf: s.queue.buf}
		w.freeQueues = append(w.freeQueues, s.queue)
	}
	s.queue = nil
}

// dropQueue empties the queue of a site, calls drop for each item, and returns the number of items.
func (w *Workbench[S]) dropQueue(s *site[S], drop func(item []byte)) int {
	n := s.queued()
	if n == 0 {
		return 0
	}
	w.queued -= n
	w.itemBytes -= queueWeight(s.queue)
	for item := []byte(nil); drop != nil && s.queue.count > 0; {
		item = s.queue.popFront(item[:0])
		drop(item)
	}
	s.queue = nil
	return n
}

// queueWeight returns the weight of the items in a queue, in bytes.
func queueWeight(q *pathQueue) int64 { return int64(q.size) + int64(q.count)*itemOverhead }
