package workbench

import "hash/maphash"

// loadAhead is how many sites are read before they are brought in. What belongs to a site lies in places that nobody has
// looked at for long; to fetch those of many at once takes hardly longer than those of one.
const loadAhead = 32

// readAhead reads a site.
func (l *loader[S]) readAhead() {
	f := l.facts()
	if l.d.err != nil {
		return
	}
	f.frame = l.d.offset
	f.hash = maphash.Bytes(l.w.seed, l.key)
	if f.at == addressed {
		b := f.addr.As16()
		f.byAddr = maphash.Bytes(l.w.seed, b[:])
	}
	from := len(l.arena)
	l.arena = append(append(l.arena, l.key...), l.raw...)
	f.key, f.raw = l.arena[from:from+len(l.key)], l.arena[from+len(l.key):]
	if l.ahead = append(l.ahead, f); len(l.ahead) == loadAhead {
		l.bringIn()
	}
}

// bringIn makes what was read part of the bench, in order.
func (l *loader[S]) bringIn() {
	if l.d.err == nil {
		l.warm()
	}
	for i := range l.ahead {
		f := &l.ahead[i]
		if at := l.d.offset; l.d.err == nil {
			l.d.offset = f.frame
			l.visitState(f)
			l.d.offset = at
		}
	}
	clear(l.ahead)
	l.ahead, l.arena = l.ahead[:0], l.arena[:0]
}

// warm reads from the places that the sites at hand will need, breadth first, so that the CPU can wait for many of them at
// once.
func (l *loader[S]) warm() {
	w, sum := l.w, l.w.warmth
	var ips, sites [loadAhead]uint32
	for i := range l.ahead {
		f := &l.ahead[i]
		sites[i] = w.byKey.first(f.hash)
		if f.at == addressed {
			ips[i] = w.byAddr.first(f.byAddr)
		}
	}
	for i := range l.ahead {
		if id := sites[i]; id != 0 {
			sum += w.sites.at(id).entry
		}
		if id := ips[i]; id != 0 {
			sum += w.entries.at(id).sites + uint32(*w.places.at(id))
		}
	}
	for i := range l.ahead {
		if id := ips[i]; id != 0 && w.entries.at(id).sites != 0 {
			sum += uint32(w.heaps.at(w.entries.at(id).sites).len())
		}
	}
	w.warmth = sum
}

// first is an id that may well be the one with this hash, or 0.
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
