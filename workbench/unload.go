package workbench

import "time"

// distantProbes is how many IPs and sites one call of Distant looks at.
const distantProbes = 1024

// Distant appends to dst up to max sites that hold more items than they need and that are not due before limit: those
// who can spare memory first. Each call looks at some IPs and the next call goes on from there, so that all are seen in
// turn and no call takes long.
func (w *Workbench[S]) Distant(limit time.Time, dst []*VisitState[S], max int) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := w.clock.offset(limit)
	left := distantProbes
	for range w.outer.len() {
		if max <= 0 || left <= 0 {
			break
		}
		w.distantAt++
		if w.distantAt >= w.outer.len() {
			w.distantAt = 0
		}
		e := w.entries.at(w.outer[w.distantAt].id)
		sites := *w.heaps.at(e.sites)
		left--
		for i := len(sites) - 1; i >= 0 && max > 0 && left > 0; i-- { // a heap: what is due late is at the end, more or less
			n := sites[i]
			left--
			if w.sites.at(n.id).queued() > lowWater && (n.due >= from || e.due >= from) {
				dst = append(dst, w.handles.at(n.id))
				max--
			}
		}
	}
	return dst
}

// Unload takes the younger items of a Waiting site out of memory, all but the two oldest, and appends them to buf and
// their ends to ends: item i is buf[ends[i-1]:ends[i]]. It takes none from a site in another state.
func (w *Workbench[S]) Unload(vs *VisitState[S], buf []byte, ends []int) ([]byte, []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if s.state() != Waiting || s.queued() <= lowWater {
		return buf, ends
	}
	w.touch(s)
	old := *s.queue
	s.queue = nil
	for i := 0; old.count > 0; i++ {
		from := len(buf)
		buf = old.popFront(buf)
		if i < lowWater {
			w.queueOf(s).pushBack(buf[from:])
			buf = buf[:from]
			continue
		}
		w.queued--
		w.itemBytes -= itemWeight(len(buf) - from)
		ends = append(ends, len(buf))
	}
	w.settle(s, Waiting)
	return buf, ends
}

// Drain takes all items of a site out of memory, whatever state it is in, and appends them to buf and their ends to ends as Unload does,
// the oldest first. Of a leased site it takes none, and says so.
func (w *Workbench[S]) Drain(vs *VisitState[S], buf []byte, ends []int) (_ []byte, _ []int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if s.has(flagLeased) {
		return buf, ends, false
	}
	if s.queue == nil {
		return buf, ends, true
	}
	w.touch(s)
	before := s.state()
	for s.queue.count > 0 {
		from := len(buf)
		buf = s.queue.popFront(buf)
		w.queued--
		w.itemBytes -= itemWeight(len(buf) - from)
		ends = append(ends, len(buf))
	}
	w.settle(s, before)
	return buf, ends, true
}
