package workbench

// site is the data of one site. There are millions of them, so it has one pointer beside those of S, and no field that
// only few sites need. The id 0 means that the number is free.
type site[S any] struct {
	queue     *itemQueue // nil if there are no items
	data      S          // the engine's data; while a Visit is out, as it was before the Visit
	due       int64
	onDisk    uint64
	id        uint32
	key       keyRef
	entry     uint32 // the entry of its IP, or 0
	pos       int32  // position in the heap of its entry, if that is large, or in the deferred heap; 0 if in none
	keyLen    uint16
	placement placement
	flags     uint8
}

// placement tells whether a site has an address.
type placement uint8

const (
	unplaced  placement = iota // unresolved
	deferred                   // will be resolved again later
	addressed                  // has an entry
	dead                       // given up
)

// The flags of a site. reconcile derives flagListed and flagHolds.
const (
	flagLeased       uint8 = 1 << iota // its Visit is out
	flagParked                         // waits for Unpark
	flagListed                         // on the refill list
	flagRefillGiven                    // returned by Refill, and neither pushed to, SetOnDisk nor dry since
	flagHolds                          // counted among the sites with items
	flagRecentlyUsed                   // used or changed since Evict last examined it
	flagDiskDropped                    // dead, and its items on disk were dropped
	flagUrgentOnDisk                   // has urgent items on disk

	// flagHeld: a site that is not dead does not take part until it has urgent items: see Release.Hold.
	flagHeld = flagDiskDropped
)

// State is the state of a site.
type State uint8

// The states. If several apply, the first of Dead, Leased, Unresolved, Deferred and Parked is the state.
const (
	Unresolved State = iota // has no address yet
	Deferred                // could not be resolved and is tried again later
	Idle                    // has an address and no items
	Waiting                 // has items and will be visited when it is due
	Leased                  // its Visit is out
	Parked                  // does not take part until Unpark
	Dead                    // given up; has no items and accepts none
	stateCount
)

// String returns the name of the state in lower case.
func (s State) String() string {
	switch s {
	case Unresolved:
		return "unresolved"
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

func (s *site[S]) has(flag uint8) bool { return s.flags&flag != 0 }

func (s *site[S]) queued() int {
	if s.queue == nil {
		return 0
	}
	return s.queue.Count()
}

// urgent returns the number of urgent items in the queue of the site.
func (s *site[S]) urgent() int {
	if s.queue == nil {
		return 0
	}
	return s.queue.UrgentCount()
}

// state derives the state from the fields. Empty queues are freed at once, so a queue always has items.
func (s *site[S]) state() State {
	switch {
	case s.placement == dead:
		return Dead
	case s.has(flagLeased):
		return Leased
	case s.placement == unplaced:
		return Unresolved
	case s.placement == deferred:
		return Deferred
	case s.flags&(flagParked|flagHeld) != 0:
		return Parked
	case s.queue != nil:
		return Waiting
	default:
		return Idle
	}
}
