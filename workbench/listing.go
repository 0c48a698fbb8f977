package workbench

// Listing visits many sites of a workbench. All methods take the lock of the workbench.
type Listing[S any] struct{ w *Workbench[S] }

// Each calls f for every site in order of creation, until f returns false, with the state that the site had shortly
// before. It holds the lock while it reads the states of 1,024 sites, but not while f runs, so f may call the
// workbench. Each may include or miss sites that are created during the call. No site may be evicted during the call.
func (l Listing[S]) Each(f func(vs *VisitState[S], state State) bool) {
	var states [chunkLen]State
	for k := 0; ; k++ {
		chunk, n := l.statesOf(k, &states)
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

// statesOf reads the states of chunk k and returns the number of its sites.
func (l Listing[S]) statesOf(k int, states *[chunkLen]State) (chunk *[chunkLen]VisitState[S], n int) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	t := &l.w.contents.sites
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

// Keys calls f with the key of each site of group k, in order of creation. A group has 1,024 sites. f also gets the
// state and the number of items in memory, on disk and in the Visit. The result more reports whether there are further
// groups. f borrows key. It runs under the lock of the workbench, so it must be short and must not call the workbench.
// A loop over all groups includes every site that existed during the whole loop, and may include others.
func (l Listing[S]) Keys(k int, f func(vs *VisitState[S], key []byte, state State, items uint64)) (more bool) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	c := &l.w.contents
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

// Any reports whether is returns true for any waiting, leased or deferred site, including the waiting sites of IPs with
// a Visit. For a leased site it gets the data from before the Visit. is runs under the lock of the workbench: it must
// be short and must not call the workbench.
func (l Listing[S]) Any(is func(*S) bool) bool {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	c := &l.w.contents
	for _, n := range c.deferred {
		if is(&c.sites.at(n.id).data) {
			return true
		}
	}
	for _, ip := range c.ips.outer {
		for _, site := range *c.ips.heaps.at(c.ips.at(ip.id).sites) {
			if is(&c.sites.at(site.id).data) {
				return true
			}
		}
	}
	for n := range c.leases.last {
		if lease := c.leases.at(n + 1); lease.id != 0 {
			s := c.sites.at(lease.site)
			if is(&s.data) {
				return true
			}
			if e := c.ips.at(s.entry); e.sites != 0 { // the other sites of its IP, which is not in the outer heap
				for _, other := range *c.ips.heaps.at(e.sites) {
					if is(&c.sites.at(other.id).data) {
						return true
					}
				}
			}
		}
	}
	return false
}

// viewsMost is the number of sites that Views reads under one lock.
const viewsMost = 128

// Views appends to dst a View of up to 128 sites, from number from on, in order of creation, and returns the number to
// go on with; 0 at the end. A loop from 1 on includes every site that existed during the whole loop, and may include
// others. The keys of dst are in an array that begins as keys and may be grown; it is returned for the next call.
func (l Listing[S]) Views(from uint64, dst []View[S], keys []byte) (_ []View[S], _ []byte, next uint64) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	c := &l.w.contents
	last := uint64(c.sites.records.last)
	n := max(from, 1)
	for ; n <= last && n < from+viewsMost; n++ {
		if !c.sites.has(uint32(n)) {
			continue
		}
		s := c.sites.at(uint32(n))
		at := len(keys)
		keys = append(keys, c.sites.keyOf(s)...)
		v := c.view(s)
		v.Key = keys[at:len(keys):len(keys)]
		dst = append(dst, v)
	}
	if n > last {
		n = 0
	}
	return dst, keys, n
}
