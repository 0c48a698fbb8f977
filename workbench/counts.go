package workbench

// Counts is the content of the workbench at one moment.
type Counts struct {
	// Sites is the number of all sites and the sum of the seven states after it. Leased is also the number of Visits
	// that are out.
	Sites, Unresolved, Deferred, Idle, Waiting, Leased, Parked, Dead int
	// IPs counts all entries. OnBench counts those with a waiting site and without a Visit. Vacant counts those without
	// sites, which stay until their due time has passed.
	IPs, OnBench, Vacant int
	// Queued counts the items in queues, InVisits the items in Visits.
	Queued, InVisits int
	// Refill is the number of sites on the refill list.
	Refill int
	// Weight is the memory of all items in bytes. An item in a queue or a Visit counts its bytes, its length field and 8;
	// a site with items counts 96. Sites without items do not count, so the weight without items is 0.
	Weight int64
}

// Counts returns the current counts in O(1).
func (w *Workbench[S]) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	n := &c.sites.states
	return Counts{
		Sites: c.sites.count(), Unresolved: n[Unresolved], Deferred: n[Deferred], Idle: n[Idle], Waiting: n[Waiting],
		Leased: n[Leased], Parked: n[Parked], Dead: n[Dead],
		IPs: c.ips.count, OnBench: c.ips.outer.len(), Vacant: c.ips.vacant.len(),
		Queued: c.items.queued, InVisits: c.items.inVisits,
		Refill: c.refill.len(),
		Weight: c.items.weight(),
	}
}

// Leased returns the number of Visits that are out.
func (w *Workbench[S]) Leased() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contents.sites.states[Leased]
}

// Each calls f for every site in order of creation, until f returns false, with the state that the site had shortly
// before. It holds the lock while it reads the states of 1,024 sites, but not while f runs, so f may call the
// workbench. Each may include or miss sites that are created during the call. No site may be evicted during the call.
func (w *Workbench[S]) Each(f func(vs *VisitState[S], state State) bool) {
	var states [chunkLen]State
	for k := 0; ; k++ {
		chunk, n := w.statesOf(k, &states)
		for i := range n {
			if states[i] < stateCount && !f(&chunk[i], states[i]) {
				return
			}
		}
		if n < chunkLen {
			return
		}
	}
}

// Keys calls f with the key of each site of group k, in order of creation. A group has 1,024 sites. f also gets the
// state and the number of items in memory, on disk and in the Visit. The result more reports whether there are further
// groups. f borrows key. It runs under the lock of the workbench, so it must be short and must not call the workbench.
// A loop over all groups includes every site that existed during the whole loop, and may include others.
func (w *Workbench[S]) Keys(k int, f func(vs *VisitState[S], key []byte, state State, items uint64)) (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	if k >= len(c.sites.handles.chunks) {
		return false
	}
	for i := range min(chunkLen, int(c.sites.records.last)-k*chunkLen) {
		if c.sites.records.chunks[k] == nil {
			break
		}
		if s := &c.sites.records.chunks[k][i]; s.id != 0 {
			f(&c.sites.handles.chunks[k][i], c.sites.keyOf(s), s.state(), s.onDisk+uint64(c.held(s)))
		}
	}
	return k+1 < len(c.sites.handles.chunks)
}

// statesOf reads the states of chunk k and returns the number of its sites.
func (w *Workbench[S]) statesOf(k int, states *[chunkLen]State) (chunk *[chunkLen]VisitState[S], n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &w.contents.sites
	if k >= len(t.handles.chunks) {
		return nil, 0
	}
	n = min(chunkLen, int(t.records.last)-k*chunkLen)
	for i := range n {
		if t.records.chunks[k] == nil || t.records.chunks[k][i].id == 0 {
			states[i] = stateCount // this number has no site
			continue
		}
		states[i] = t.records.chunks[k][i].state()
	}
	return t.handles.chunks[k], n
}
