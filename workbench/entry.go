package workbench

import (
	"hash/maphash"
	"net/netip"
)

// entry is one IP: the sites placed under it, those with something to do in a heap by due time. It holds no pointers.
type entry struct {
	addr    [16]byte // IPv4 in its IPv6 form: see canonical
	due     int64
	sites   uint32 // the heap of the Waiting ones, or 0 when there is none
	lease   uint32 // the Visit that is out, or 0
	members int32  // all sites placed here
	state   entryState
	note    [3]byte // the engine's: see Visit
}

// entryState says whether an entry is in use.
type entryState uint8

const (
	unused   entryState = iota // its number is free
	occupied                   // has members, or a Visit is out
	vacant                     // no members: kept until due has passed
)

func (e *entry) noted() uint32 {
	return uint32(e.note[0]) | uint32(e.note[1])<<8 | uint32(e.note[2])<<16
}

func (e *entry) setNote(n uint32) { e.note = [3]byte{byte(n), byte(n >> 8), byte(n >> 16)} }

func (e *entry) address() netip.Addr { return netip.AddrFrom16(e.addr).Unmap() }

// canonical brings an address to the form in which it is compared.
func canonical(addr netip.Addr) netip.Addr {
	if !addr.IsValid() {
		panic("BUG: workbench: a site placed under no address")
	}
	return addr.Unmap().WithZone("")
}

// findEntry returns the entry of an address, or 0.
func (w *Workbench[S]) findEntry(addr netip.Addr) (hash uint64, id uint32) {
	b := addr.As16()
	hash = maphash.Bytes(w.seed, b[:])
	return hash, w.byAddr.find(hash, func(id uint32) bool { return w.entries.at(id).addr == b })
}

// entryOf finds or makes the entry of an address.
func (w *Workbench[S]) entryOf(addr netip.Addr) uint32 {
	hash, id := w.findEntry(addr)
	if id != 0 {
		return id
	}
	id = w.entries.take()
	w.places.reach(id)
	*w.entries.at(id) = entry{addr: addr.As16(), due: noDue, state: occupied}
	w.byAddr.add(hash, id)
	w.ips++
	w.touchEntry(id)
	return id
}

// dropEntry forgets an entry that nothing points to.
func (w *Workbench[S]) dropEntry(id uint32) {
	w.touchEntry(id)
	e := w.entries.at(id)
	if w.history.listing && e.due != noDue {
		w.history.dropped = append(w.history.dropped, e.address())
	}
	w.byAddr.remove(maphash.Bytes(w.seed, e.addr[:]), id)
	*e = entry{}
	w.entries.put(id)
	w.ips--
}

// sweep forgets vacant entries whose due time has passed: a few per call, so that no caller pays for all.
func (w *Workbench[S]) sweep(now int64) {
	for range 64 {
		if w.vacant.len() == 0 || w.vacant.top().due > now {
			return
		}
		id := w.vacant.top().id
		w.touchEntry(id)
		w.vacant.remove(*w.places.at(id), w.ipPos)
		w.dropEntry(id)
	}
}

// settleEntry puts an entry on the outer heap, or off it (W1), or among the vacant, or out.
func (w *Workbench[S]) settleEntry(id uint32) {
	e, pos := w.entries.at(id), *w.places.at(id)
	if e.members == 0 && e.lease == 0 {
		if e.state == vacant {
			return
		}
		if pos != 0 {
			w.outer.remove(pos, w.ipPos)
		}
		if e.due == noDue {
			w.dropEntry(id)
			return
		}
		e.state = vacant
		w.vacant.push(node{due: e.due, tie: id, id: id}, w.ipPos)
		return
	}
	if e.lease != 0 || e.sites == 0 {
		if pos != 0 {
			w.outer.remove(pos, w.ipPos)
		}
		return
	}
	top := w.heaps.at(e.sites).top()
	due := max(e.due, top.due)
	if pos != 0 {
		w.outer.set(pos, due, top.tie, w.ipPos)
		return
	}
	w.outer.push(node{due: due, tie: top.tie, id: id}, w.ipPos)
}

// smallHeap is how many sites of an IP are looked through rather than told their places: most IPs have few, and to tell
// each would fetch its site from memory.
const smallHeap = 8

// placeOf is a site's place in its entry's heap, or 0.
func placeOf[S any](h *dueHeap, s *site[S]) int32 {
	if h.len() <= smallHeap && s.pos != 0 {
		return h.find(s.id)
	}
	return s.pos
}

// waits puts a site into its entry's heap, or to its new place there.
func (w *Workbench[S]) waits(e *entry, s *site[S]) {
	if e.sites == 0 {
		e.sites = w.heaps.take()
	}
	h := w.heaps.at(e.sites)
	tell := w.sitePos
	if h.len() <= smallHeap {
		tell = nil
	}
	if s.pos != 0 {
		h.set(placeOf(h, s), s.due, s.id, tell)
		return
	}
	s.pos = 1 // somewhere
	h.push(node{due: s.due, tie: s.id, id: s.id}, tell)
	if h.len() == smallHeap+1 {
		for i, n := range *h {
			w.sitePos(n.id, int32(i)+1)
		}
	}
}

// leaves takes a site out of its entry's heap. An empty heap serves the next entry that needs one.
func (w *Workbench[S]) leaves(e *entry, s *site[S]) {
	h := w.heaps.at(e.sites)
	tell := w.sitePos
	if h.len() <= smallHeap {
		tell = nil
	}
	h.remove(placeOf(h, s), tell)
	s.pos = 0
	if h.len() == 0 {
		if len(w.heaps.free) >= spareMax {
			*h = nil
		}
		w.heaps.put(e.sites)
		e.sites = 0
	}
}

// attach places a site that has no entry under an address.
func (w *Workbench[S]) attach(s *site[S], id uint32) {
	e := w.entries.at(id)
	if e.state == vacant {
		w.vacant.remove(*w.places.at(id), w.ipPos)
		e.state = occupied
	}
	e.members++
	s.entry, s.at = id, addressed
}

// detach takes a site that is not leased away from wherever it is placed. The caller settles.
func (w *Workbench[S]) detach(s *site[S]) {
	if s.at == deferred {
		w.waiting.remove(s.pos, w.sitePos)
	}
	if id := s.entry; id != 0 {
		e := w.entries.at(id)
		if s.pos != 0 {
			w.leaves(e, s)
		}
		e.members--
		s.entry = 0
		w.settleEntry(id)
	}
	s.at = nowhere
}
