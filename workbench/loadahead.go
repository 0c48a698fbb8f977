package workbench

// loadAhead is the number of sites that are decoded before they are inserted. The data that belongs to a site is in
// places that are not in the CPU's cache. Reading the places of many sites together takes hardly longer than those of a
// single site.
const loadAhead = 32

// readAhead decodes a site.
func (l *loader[S]) readAhead() {
	f := l.facts()
	if l.d.Err != nil {
		return
	}
	if !l.selected.wants(l.key, f.at, f.addr) && !l.contents.sites.has(uint32(f.id)) {
		l.siteCount++
		return
	}
	f.frame = l.d.Offset
	f.hash = l.contents.sites.hash(l.key)
	if f.at == addressed {
		f.byAddr = l.contents.ips.hash(f.addr.As16())
	}
	from := len(l.arena)
	l.arena = append(append(l.arena, l.key...), l.raw...)
	f.key, f.raw = l.arena[from:from+len(l.key)], l.arena[from+len(l.key):]
	if l.ahead = append(l.ahead, f); len(l.ahead) == loadAhead {
		l.insertAhead()
	}
}

// insertAhead inserts the decoded sites into the workbench, in order.
func (l *loader[S]) insertAhead() {
	if l.d.Err == nil {
		l.prefetch()
	}
	for i := range l.ahead {
		f := &l.ahead[i]
		if at := l.d.Offset; l.d.Err == nil {
			l.d.Offset = f.frame
			l.visitState(f)
			l.d.Offset = at
		}
	}
	clear(l.ahead)
	l.ahead, l.arena = l.ahead[:0], l.arena[:0]
}

// prefetch reads the places that the decoded sites need, breadth first, so that the CPU waits for many of them at the
// same time.
func (l *loader[S]) prefetch() {
	c, sum := l.contents, l.contents.prefetchSum
	var ips, sites [loadAhead]uint32
	for i := range l.ahead {
		f := &l.ahead[i]
		sites[i] = c.sites.byKey.first(f.hash)
		if f.at == addressed {
			ips[i] = c.ips.byAddr.first(f.byAddr)
		}
	}
	for i := range l.ahead {
		if id := sites[i]; id != 0 {
			sum += c.sites.at(id).entry
		}
		if id := ips[i]; id != 0 {
			sum += c.ips.at(id).sites + uint32(*c.ips.places.at(id))
		}
	}
	for i := range l.ahead {
		if id := ips[i]; id != 0 && c.ips.at(id).sites != 0 {
			sum += uint32(c.ips.heaps.at(c.ips.at(id).sites).len())
		}
	}
	c.prefetchSum = sum
}

// first returns an id that probably has this hash, or 0.
func (x *index) first(hash uint64) uint32 {
	s := x.shard(hash)
	if s.used == 0 {
		return 0
	}
	tag, mask := uint32(hash), uint32(len(s.slots)-1)
	if slot := s.slots[tag&mask]; uint32(slot>>32) == tag {
		return uint32(slot)
	}
	return 0
}
