package workbench

import (
	"hash/maphash"
	"net/netip"
)

// entry is one IP: its sites, with the waiting ones in a heap by due time. It contains no pointers.
type entry struct {
	addr    [16]byte // IPv4 as IPv4-mapped IPv6: see canonical
	due     int64
	sites   uint32 // the heap of the Waiting sites, or 0 if there are none
	lease   uint32 // the Visit that is out, or 0
	members int32  // number of all sites at this IP
	state   entryState
	note    [3]byte // the engine's note: see Visit.IPNote
}

// entryState is the use of an entry.
type entryState uint8

const (
	unused   entryState = iota // its number is free
	occupied                   // has members or a Visit
	vacant                     // no members; kept until the due time has passed
)

func (e *entry) noteValue() uint32 {
	return uint32(e.note[0]) | uint32(e.note[1])<<8 | uint32(e.note[2])<<16
}

func (e *entry) setNote(n uint32) { e.note = [3]byte{byte(n), byte(n >> 8), byte(n >> 16)} }

func (e *entry) address() netip.Addr { return netip.AddrFrom16(e.addr).Unmap() }

// canonical returns the form in which addresses are compared: IPv4 without mapping, and no zone.
func canonical(addr netip.Addr) netip.Addr {
	if !addr.IsValid() {
		panic("BUG: workbench: invalid address of a site")
	}
	return addr.Unmap().WithZone("")
}

// findEntry returns the entry of an address, or 0.
func (w *Workbench[S]) findEntry(addr netip.Addr) (hash uint64, id uint32) {
	b := addr.As16()
	hash = maphash.Bytes(w.ipSeed, b[:])
	return hash, w.byAddr.find(hash, func(id uint32) bool { return w.entries.at(id).addr == b })
}

// entryOf finds or makes the entry of an address.
func (w *Workbench[S]) entryOf(addr netip.Addr) uint32 {
	hash, id := w.findEntry(addr)
	if id != 0 {
		return id
	}
	id = w.entries.allocate()
	w.places.reach(id)
	*w.entries.at(id) = entry{addr: addr.As16(), due: noDue, state: occupied}
	w.byAddr.add(hash, id)
	w.ips++
	w.touchEntry(id)
	return id
}

// dropEntry removes an entry that has no references.
func (w *Workbench[S]) dropEntry(id uint32) {
	w.touchEntry(id)
	e := w.entries.at(id)
	if w.history.recording && e.due != noDue {
		w.history.dropped = append(w.history.dropped, e.address())
	}
	w.byAddr.remove(maphash.Bytes(w.ipSeed, e.addr[:]), id)
	*e = entry{}
	w.entries.release(id)
	w.ips--
}

// dropVacant removes vacant entries whose due time has passed. It removes at most 64 per call, so that no call takes
// long.
func (w *Workbench[S]) dropVacant(now int64) {
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

// reconcileEntry moves an entry to its place after a change: into or out of the outer heap (W1), into the vacant heap,
// or out of memory.
func (w *Workbench[S]) reconcileEntry(id uint32) {
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

// smallHeap is the size up to which a heap is searched, so that its sites need not store their positions. Most IPs have
// few sites, and updating a position would load the site from memory.
const smallHeap = 8

// placeOf returns the position of a site in the heap of its entry, or 0.
func placeOf[S any](h *dueHeap, s *site[S]) int32 {
	if h.len() <= smallHeap && s.pos != 0 {
		return h.find(s.id)
	}
	return s.pos
}

// addWaiting inserts a site into the heap of its entry, or moves it there.
func (w *Workbench[S]) addWaiting(e *entry, s *site[S]) {
	if e.sites == 0 {
		e.sites = w.heaps.allocate()
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
	s.pos = 1 // any position that is not 0
	h.push(node{due: s.due, tie: s.id, id: s.id}, tell)
	if h.len() == smallHeap+1 {
		for i, n := range *h {
			w.sitePos(n.id, int32(i)+1)
		}
	}
}

// removeWaiting removes a site from the heap of its entry. The next entry that needs a heap reuses an empty one.
func (w *Workbench[S]) removeWaiting(e *entry, s *site[S]) {
	h := w.heaps.at(e.sites)
	tell := w.sitePos
	if h.len() <= smallHeap {
		tell = nil
	}
	h.remove(placeOf(h, s), tell)
	s.pos = 0
	if h.len() == 0 {
		if len(w.heaps.free) >= maxSpare {
			*h = nil
		}
		w.heaps.release(e.sites)
		e.sites = 0
	}
}

// attach places a site without an entry at the given entry.
func (w *Workbench[S]) attach(s *site[S], id uint32) {
	e := w.entries.at(id)
	if e.state == vacant {
		w.vacant.remove(*w.places.at(id), w.ipPos)
		e.state = occupied
	}
	e.members++
	s.entry, s.placement = id, addressed
}

// detach removes a site that is not leased from its entry or from the deferred sites. The caller must then call
// reconcile.
func (w *Workbench[S]) detach(s *site[S]) {
	if s.placement == deferred {
		w.waiting.remove(s.pos, w.sitePos)
	}
	if id := s.entry; id != 0 {
		e := w.entries.at(id)
		if s.pos != 0 {
			w.removeWaiting(e, s)
		}
		e.members--
		s.entry = 0
		w.reconcileEntry(id)
	}
	s.placement = unplaced
}
