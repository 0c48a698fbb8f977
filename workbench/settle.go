package workbench

// What a site weighs beside its items' bytes: see doc.go.
const (
	itemOverhead = 8
	siteOverhead = 96
	lowWater     = 2 // fewer items than this in memory, and more on disk: Refill gives the site
)

func itemWeight(n int) int64 { return int64(prefixLen(n)+n) + itemOverhead }

// settle makes everything derived agree with the facts of one site: its place in the heaps, the counts, the weight and
// the refill list. Every method changes facts and then settles. before is the state that was counted last.
func (w *Workbench[S]) settle(s *site[S], before State) {
	if s.queue != nil && s.queue.count == 0 {
		w.freeQueue(s)
	}
	now := s.state()
	w.states[before]--
	w.states[now]++
	if s.entry != 0 {
		e := w.entries.at(s.entry)
		switch {
		case now == Waiting:
			w.waits(e, s)
		case s.pos != 0:
			w.leaves(e, s)
		}
		w.settleEntry(s.entry)
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
	if w.wantsRefill(s) && s.flags&(flagListed|flagGiven) == 0 {
		s.flags |= flagListed
		w.refill = append(w.refill, s.id)
	}
}

// leaseOf is the lease of a site whose Visit is out, or nil.
func (w *Workbench[S]) leaseOf(s *site[S]) *lease[S] {
	if !s.has(flagLeased) {
		return nil
	}
	return w.leases.at(w.entries.at(s.entry).lease)
}

// held is how many items of the site are in memory, those in its Visit included.
func (w *Workbench[S]) held(s *site[S]) int {
	n := s.queued()
	if l := w.leaseOf(s); l != nil {
		n += len(l.items)
	}
	return n
}

func (w *Workbench[S]) wantsRefill(s *site[S]) bool {
	return s.onDisk > 0 && s.at == addressed && !s.has(flagParked) && w.held(s) < lowWater
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

// spareMax is how many queues and heaps that are not in use are kept for the next one.
const spareMax = 4096

// freeQueue takes an empty queue from its site; small ones are kept for the next.
func (w *Workbench[S]) freeQueue(s *site[S]) {
	if len(s.queue.buf) <= 512 && len(w.freeQueues) < spareMax {
		*s.queue = pathQueue{buf: s.queue.buf}
		w.freeQueues = append(w.freeQueues, s.queue)
	}
	s.queue = nil
}

// dropQueue empties a site's queue, shows drop what is lost, and says how many items that is.
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

// queueWeight is what a queue's items weigh.
func queueWeight(q *pathQueue) int64 { return int64(q.size) + int64(q.count)*itemOverhead }
