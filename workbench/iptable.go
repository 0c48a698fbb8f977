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

// ipTable holds the entries of all IP addresses, each with the heap of its waiting sites. It orders the entries that
// can be visited, and removes those that nothing needs.
type ipTable[S any] struct {
	slab[entry]

	seed maphash.Seed
	// positions of entries in the outer or the vacant heap, 0 for none; separate from entries, so that they stay in the
	// CPU's cache
	places slab[int32]
	byAddr index
	count  int // entries

	outer  dueHeap // entries with waiting sites and no Visit
	vacant dueHeap // entries without sites whose due time has not passed
	heaps  slab[dueHeap]

	setPlace   posFunc     // of an entry in outer or vacant
	setSitePos posFunc     // of a site in the heap of its entry
	history    *history[S] // which due times have changed
}

// hash returns the hash of an address for the index.
func (t *ipTable[S]) hash(addr [16]byte) uint64 { return maphash.Bytes(t.seed, addr[:]) }

// find returns the number of the entry of an address, or 0.
func (t *ipTable[S]) find(addr netip.Addr) (hash uint64, id uint32) {
	b := addr.As16()
	hash = t.hash(b)
	return hash, t.byAddr.find(hash, func(id uint32) bool { return t.at(id).addr == b })
}

// findOrAdd finds or makes the entry of an address.
func (t *ipTable[S]) findOrAdd(addr netip.Addr) uint32 {
	hash, id := t.find(addr)
	if id != 0 {
		return id
	}
	id = t.allocate()
	t.places.reach(id)
	*t.at(id) = entry{addr: addr.As16(), due: noDue, state: occupied}
	t.byAddr.add(hash, id)
	t.count++
	t.touch(id)
	return id
}

// touch must be called before the due time of an IP changes, and after an entry is created.
func (t *ipTable[S]) touch(id uint32) { t.history.touchEntry(id, t.at(id)) }

// drop removes an entry that has no references.
func (t *ipTable[S]) drop(id uint32) {
	t.touch(id)
	e := t.at(id)
	t.history.noteDropped(e)
	t.byAddr.remove(t.hash(e.addr), id)
	*e = entry{}
	t.release(id)
	t.count--
}

// dropVacant removes vacant entries whose due time has passed. It removes at most 64 per call, so that no call takes
// long.
func (t *ipTable[S]) dropVacant(now int64) {
	for range 64 {
		if t.vacant.len() == 0 || t.vacant.top().due > now {
			return
		}
		id := t.vacant.top().id
		t.touch(id)
		t.vacant.remove(*t.places.at(id), t.setPlace)
		t.drop(id)
	}
}

// setDue sets the due time of an entry that was loaded; noDue removes it if it has no sites.
func (t *ipTable[S]) setDue(id uint32, due int64) {
	e := t.at(id)
	e.due = due
	switch {
	case e.state != vacant:
		t.reconcile(id)
	case due == noDue:
		t.vacant.remove(*t.places.at(id), t.setPlace)
		t.drop(id)
	default:
		t.vacant.set(*t.places.at(id), due, id, t.setPlace)
	}
}

// reconcile moves an entry to its place after a change: into or out of the outer heap (W1), into the vacant heap, or
// out of memory.
func (t *ipTable[S]) reconcile(id uint32) {
	e, pos := t.at(id), *t.places.at(id)
	if e.members == 0 && e.lease == 0 {
		if e.state == vacant {
			return
		}
		if pos != 0 {
			t.outer.remove(pos, t.setPlace)
		}
		if e.due == noDue {
			t.drop(id)
			return
		}
		e.state = vacant
		t.vacant.push(node{due: e.due, tie: id, id: id}, t.setPlace)
		return
	}
	if e.lease != 0 || e.sites == 0 {
		if pos != 0 {
			t.outer.remove(pos, t.setPlace)
		}
		return
	}
	top := t.heaps.at(e.sites).top()
	due := max(e.due, top.due)
	if pos != 0 {
		t.outer.set(pos, due, top.tie, t.setPlace)
		return
	}
	t.outer.push(node{due: due, tie: top.tie, id: id}, t.setPlace)
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
func (t *ipTable[S]) addWaiting(e *entry, s *site[S]) {
	if e.sites == 0 {
		e.sites = t.heaps.allocate()
	}
	h := t.heaps.at(e.sites)
	tell := t.setSitePos
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
			t.setSitePos(n.id, int32(i)+1)
		}
	}
}

// removeWaiting removes a site from the heap of its entry. The next entry that needs a heap reuses an empty one.
func (t *ipTable[S]) removeWaiting(e *entry, s *site[S]) {
	h := t.heaps.at(e.sites)
	tell := t.setSitePos
	if h.len() <= smallHeap {
		tell = nil
	}
	h.remove(placeOf(h, s), tell)
	s.pos = 0
	if h.len() == 0 {
		if len(t.heaps.free) >= maxSpare {
			*h = nil
		}
		t.heaps.release(e.sites)
		e.sites = 0
	}
}

// attach places a site without an entry at the given entry.
func (t *ipTable[S]) attach(s *site[S], id uint32) {
	e := t.at(id)
	if e.state == vacant {
		t.vacant.remove(*t.places.at(id), t.setPlace)
		e.state = occupied
	}
	e.members++
	s.entry, s.placement = id, addressed
}

// detach removes a site that is not leased from its entry, which may then be gone.
func (t *ipTable[S]) detach(s *site[S]) {
	id := s.entry
	e := t.at(id)
	if s.pos != 0 {
		t.removeWaiting(e, s)
	}
	e.members--
	s.entry, s.placement = 0, unplaced
	t.reconcile(id)
}
