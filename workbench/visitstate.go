package workbench

import (
	"net/netip"
	"sync/atomic"
)

// VisitState is one site: a scheme and an authority. It lives as long as its bench. Its methods are safe for all.
type VisitState[S any] struct {
	// Site is the engine's own knowledge of the site. Whoever holds the Visit may use it; nobody else may, but through
	// Unpark and WithSite.
	Site S

	key    []byte
	queue  *pathQueue // nil when no items wait
	entry  atomic.Pointer[entry[S]]
	due    int64
	onDisk uint64
	id     uint32
	pos    int32  // place in the heap of the entry or of the deferred; 0 for none
	epoch  uint32 // the last cut that has this site's image
	at     whereabouts
	flags  uint8
}

// whereabouts is where a site stands with regard to addresses.
type whereabouts uint8

const (
	nowhere   whereabouts = iota // not resolved yet, or not any more
	deferred                     // to be resolved again later
	addressed                    // has an entry
	buried                       // dead
)

// The flags of a VisitState. Listed and holds are derived: settle keeps them true.
const (
	flagLeased uint8 = 1 << iota // its Visit is out
	flagParked                   // waits for Unpark
	flagListed                   // on the refill list
	flagGiven                    // given out by Refill and not heard of since
	flagHolds                    // counted among the sites that hold items
)

// State is where a VisitState is in its life.
type State uint8

// The states. A site of which several are true shows the first of Dead, Leased, Newborn, Deferred, Parked.
const (
	Newborn  State = iota // waits for an address
	Deferred              // could not be resolved, waits to be tried again
	Idle                  // has an address and no items
	Waiting               // on its Entry, items ready, comes out when it is due
	Leased                // its Visit is out
	Parked                // waits for Unpark
	Dead                  // given up; holds nothing and takes nothing
	stateCount
)

// String is the state's name in lower case.
func (s State) String() string {
	switch s {
	case Newborn:
		return "newborn"
	case Deferred:
		return "deferred"
	case Idle:
		return "idle"
	case Waiting:
		return "waiting"
	case Leased:
		return "leased"
	case Parked:
		return "parked"
	case Dead:
		return "dead"
	default:
		return "unknown"
	}
}

// Key is scheme://authority. Borrowed, immutable, valid for ever.
func (vs *VisitState[S]) Key() []byte { return vs.key }

// ID is the site's number: 1, 2, 3, ... in order of creation, the same after Save and Load, less than 2^32.
func (vs *VisitState[S]) ID() uint64 { return uint64(vs.id) }

// Addr is the address the site is placed under, or the zero Addr.
func (vs *VisitState[S]) Addr() netip.Addr {
	if e := vs.entry.Load(); e != nil {
		return e.addr
	}
	return netip.Addr{}
}

func (vs *VisitState[S]) has(flag uint8) bool { return vs.flags&flag != 0 }

func (vs *VisitState[S]) queued() int {
	if vs.queue == nil {
		return 0
	}
	return vs.queue.count
}

// state derives the state from the facts.
func (vs *VisitState[S]) state() State {
	switch {
	case vs.at == buried:
		return Dead
	case vs.has(flagLeased):
		return Leased
	case vs.at == nowhere:
		return Newborn
	case vs.at == deferred:
		return Deferred
	case vs.has(flagParked):
		return Parked
	case vs.queued() > 0:
		return Waiting
	default:
		return Idle
	}
}

// entry is one IP: the sites placed under it, those with something to do in a heap by due time. The address never
// changes, so it may be read without the lock.
type entry[S any] struct {
	addr    netip.Addr
	due     int64
	sites   dueHeap   // the Waiting ones
	lease   *lease[S] // the Visit that is out, or nil
	members int32     // all sites placed here
	pos     int32     // place in the outer heap, or in that of the vacant; 0 for none
	id      uint32
	epoch   uint32 // the last cut that has this entry's image
	vacant  bool   // no members: kept until due has passed
}

// lease is the bench's side of a Visit that is out.
type lease[S any] struct {
	id       uint64
	vs       *VisitState[S]
	items    [][]byte // as handed out; immutable until Release
	buf      []byte   // the bytes of items
	fronts   int      // items pushed to the front since: they stay before what comes back
	site     S        // as it was when the Visit went out, for snapshots: the real one is the holder's
	kill     bool
	drop     func(item []byte) // the killer's
	unparked bool
	moveTo   netip.Addr
	updates  []func(*S)
}
