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
func (w *Workbench[S]) settle(vs *VisitState[S], before State) {
	if vs.queue != nil && vs.queue.count == 0 {
		w.freeQueue(vs)
	}
	now := vs.state()
	w.states[before]--
	w.states[now]++
	if e := vs.entry.Load(); e != nil {
		switch {
		case now == Waiting && vs.pos == 0:
			e.sites.push(node{due: vs.due, tie: vs.id, id: vs.id}, w.sitePos)
		case now == Waiting:
			e.sites.set(vs.pos, vs.due, vs.id, w.sitePos)
		case vs.pos != 0:
			e.sites.remove(vs.pos, w.sitePos)
		}
		w.settleEntry(e)
	}
	held := w.held(vs)
	if (held > 0) != vs.has(flagHolds) {
		vs.flags ^= flagHolds
		if held > 0 {
			w.holders++
		} else {
			w.holders--
		}
	}
	if w.wantsRefill(vs) && vs.flags&(flagListed|flagGiven) == 0 {
		vs.flags |= flagListed
		w.refill = append(w.refill, vs.id)
	}
}

// settleEntry puts an entry on the outer heap, or off it (W1), or among the vacant, or out.
func (w *Workbench[S]) settleEntry(e *entry[S]) {
	if e.members == 0 && e.lease == nil {
		if e.vacant {
			return
		}
		if e.pos != 0 {
			w.outer.remove(e.pos, w.ipPos)
		}
		if e.due == noDue {
			w.dropEntry(e)
			return
		}
		e.vacant = true
		w.vacant.push(node{due: e.due, tie: e.id, id: e.id}, w.ipPos)
		return
	}
	if e.lease != nil || len(e.sites) == 0 {
		if e.pos != 0 {
			w.outer.remove(e.pos, w.ipPos)
		}
		return
	}
	top := e.sites[0]
	due := max(e.due, top.due)
	if e.pos != 0 {
		w.outer.set(e.pos, due, top.tie, w.ipPos)
		return
	}
	w.outer.push(node{due: due, tie: top.tie, id: e.id}, w.ipPos)
}

// attach places a site that has no entry under an address.
func (w *Workbench[S]) attach(vs *VisitState[S], e *entry[S]) {
	if e.vacant {
		w.vacant.remove(e.pos, w.ipPos)
		e.vacant = false
	}
	e.members++
	vs.entry.Store(e)
	vs.at = addressed
}

// detach takes a site that is not leased away from wherever it is placed. The caller settles.
func (w *Workbench[S]) detach(vs *VisitState[S]) {
	if vs.at == deferred {
		w.waiting.remove(vs.pos, w.sitePos)
	}
	if e := vs.entry.Load(); e != nil {
		if vs.pos != 0 {
			e.sites.remove(vs.pos, w.sitePos)
		}
		e.members--
		vs.entry.Store(nil)
		w.settleEntry(e)
	}
	vs.at = nowhere
}

// leaseOf is the lease of a site whose Visit is out, or nil.
func (vs *VisitState[S]) leaseOf() *lease[S] {
	if !vs.has(flagLeased) {
		return nil
	}
	return vs.entry.Load().lease
}

// held is how many items of the site are in memory, those in its Visit included.
func (w *Workbench[S]) held(vs *VisitState[S]) int {
	n := vs.queued()
	if l := vs.leaseOf(); l != nil {
		n += len(l.items)
	}
	return n
}

func (w *Workbench[S]) wantsRefill(vs *VisitState[S]) bool {
	return vs.onDisk > 0 && vs.at == addressed && !vs.has(flagParked) && w.held(vs) < lowWater
}

func (w *Workbench[S]) queueOf(vs *VisitState[S]) *pathQueue {
	if vs.queue == nil {
		if n := len(w.freeQueues); n > 0 {
			vs.queue, w.freeQueues = w.freeQueues[n-1], w.freeQueues[:n-1]
		} else {
			vs.queue = new(pathQueue)
		}
	}
	return vs.queue
}

// freeQueue takes an empty queue from its site; small ones are kept for the next.
func (w *Workbench[S]) freeQueue(vs *VisitState[S]) {
	if len(vs.queue.buf) <= 512 && len(w.freeQueues) < 4096 {
		*vs.queue = pathQueue{buf: vs.queue.buf}
		w.freeQueues = append(w.freeQueues, vs.queue)
	}
	vs.queue = nil
}

// dropQueue empties a site's queue, shows drop what is lost, and says how many items that is.
func (w *Workbench[S]) dropQueue(vs *VisitState[S], drop func(item []byte)) int {
	n := vs.queued()
	if n == 0 {
		return 0
	}
	w.queued -= n
	w.itemBytes -= queueWeight(vs.queue)
	if drop != nil {
		for q, item := vs.queue, []byte(nil); q.count > 0; {
			item = q.popFront(item[:0])
			drop(item)
		}
	}
	vs.queue = nil
	return n
}

// queueWeight is what a queue's items weigh.
func queueWeight(q *pathQueue) int64 { return int64(q.size) + int64(q.count)*itemOverhead }
