package workbench

import "time"

// Counts is what the bench holds at one moment.
type Counts struct {
	// Sites is all of them; the seven states below add up to it. Leased is also the number of Visits that are out.
	Sites, Newborn, Deferred, Idle, Waiting, Leased, Parked, Dead int
	// IPs is all entries; OnBench those with something to do and no Visit out; Vacant those without sites, kept until
	// their due time has passed.
	IPs, OnBench, Vacant int
	// Queued is the items in queues, InVisits those that are out.
	Queued, InVisits int
	// Refill is how many sites are on the refill list.
	Refill int
	// Weight is what Weight returns, in bytes.
	Weight int64
}

// Counts costs nothing: all of it is kept up to date.
func (w *Workbench[S]) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.states
	c := Counts{
		Newborn: s[Newborn], Deferred: s[Deferred], Idle: s[Idle], Waiting: s[Waiting],
		Leased: s[Leased], Parked: s[Parked], Dead: s[Dead],
		IPs: w.ips, OnBench: w.outer.len(), Vacant: w.vacant.len(),
		Queued: w.queued, InVisits: w.inVisits,
		Refill: len(w.refill) - w.refillAt,
		Weight: w.weight(),
	}
	c.Sites = w.known()
	return c
}

// known is how many sites there are.
func (w *Workbench[S]) known() (sites int) {
	for _, n := range w.states {
		sites += n
	}
	return sites
}

// Leased is how many Visits are out.
func (w *Workbench[S]) Leased() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[Leased]
}

// frontExact is up to how many IPs Front counts one by one.
const frontExact = 1024

// Front is how many IPs have something that is due within soon of now, those with a Visit out not included. It is exact
// up to 1,024 and an estimate from as many samples beyond (standard error about 2 % of the IPs on the bench), so it
// costs a few microseconds at most.
func (w *Workbench[S]) Front(now time.Time, soon time.Duration) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.outer.count(w.clock.offset(now.Add(soon)), frontExact)
}

// Each calls f for every site in order of creation, until f returns false, with the state the site had a moment ago. It
// holds the lock only while it reads the states of 1,024 sites, not while f runs: f may call the bench. Sites made
// meanwhile may or may not be met, and none may be evicted meanwhile.
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

// Keys lends f the key of each site in group k of 1,024, in order of creation, with its state and the number of its items, in
// memory, on disk and in its Visit. It says whether there are more groups. f runs under the bench's lock: it must be short and must not
// call the bench. Who goes through all groups meets every site that was there all the while, and may meet others.
func (w *Workbench[S]) Keys(k int, f func(vs *VisitState[S], key []byte, state State, items uint64)) (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k >= len(w.handles.chunks) {
		return false
	}
	for i := range min(chunkLen, int(w.sites.last)-k*chunkLen) {
		if w.sites.chunks[k] == nil {
			break
		}
		if s := &w.sites.chunks[k][i]; s.id != 0 {
			f(&w.handles.chunks[k][i], w.keyOf(s), s.state(), s.onDisk+uint64(w.held(s)))
		}
	}
	return k+1 < len(w.handles.chunks)
}

// statesOf reads the states of chunk k and says how many sites it has.
func (w *Workbench[S]) statesOf(k int, states *[chunkLen]State) (chunk *[chunkLen]VisitState[S], n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k >= len(w.handles.chunks) {
		return nil, 0
	}
	n = min(chunkLen, int(w.sites.last)-k*chunkLen)
	for i := range n {
		if w.sites.chunks[k] == nil || w.sites.chunks[k][i].id == 0 {
			states[i] = stateCount // nobody
			continue
		}
		states[i] = w.sites.chunks[k][i].state()
	}
	return w.handles.chunks[k], n
}
