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
	for range len(w.outer) {
		if max <= 0 || left <= 0 {
			break
		}
		w.distantAt++
		if w.distantAt >= len(w.outer) {
			w.distantAt = 0
		}
		e := w.entries[w.outer[w.distantAt].id]
		left--
		for i := len(e.sites) - 1; i >= 0 && max > 0 && left > 0; i-- { // a heap: what is due late is at the end, more or less
			n := e.sites[i]
			left--
			if vs := w.site(n.id); vs.queued() > lowWater && (n.due >= from || e.due >= from) {
				dst = append(dst, vs)
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
	if vs.state() != Waiting || vs.queued() <= lowWater {
		return buf, ends
	}
	w.touch(vs)
	old := *vs.queue
	vs.queue = nil
	for i := 0; old.count > 0; i++ {
		from := len(buf)
		buf = old.popFront(buf)
		if i < lowWater {
			w.queueOf(vs).pushBack(buf[from:])
			buf = buf[:from]
			continue
		}
		w.queued--
		w.itemBytes -= itemWeight(len(buf) - from)
		ends = append(ends, len(buf))
	}
	w.settle(vs, Waiting)
	return buf, ends
}
