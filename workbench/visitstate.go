package workbench

// VisitState stands for one site: a scheme and an authority. The bench alone knows more of it than its number; everything is
// asked of the bench. It is good until the site is evicted, see Evict; then it is nobody's, or that of another site.
type VisitState[S any] struct{ id uint32 }

// ID is the site's number: 1, 2, 3, ... in order of creation, but that numbers of sites that were evicted are given again; the same
// after Save and Load, less than 2^32.
func (vs *VisitState[S]) ID() uint64 { return uint64(vs.id) }

// site is what the bench knows of a site. There are millions: one pointer beside those of S, and nothing that only few need. One
// with the id 0 is nobody's: its number is free.
type site[S any] struct {
	queue  *pathQueue // nil when no items wait
	data   S          // the engine's own knowledge; while a Visit is out, as it was when that went out
	due    int64
	onDisk uint64
	id     uint32
	key    keyRef
	entry  uint32 // the IP it is placed under, or 0
	pos    int32  // place in the heap of the entry, if that is large, or of the deferred; 0 for none
	keyLen uint16
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

// The flags of a site. Listed and holds are derived: settle keeps them true.
const (
	flagLeased uint8 = 1 << iota // its Visit is out
	flagParked                   // waits for Unpark
	flagListed                   // on the refill list
	flagGiven                    // given out by Refill and not heard of since
	flagHolds                    // counted among the sites that hold items
	flagUsed                     // looked at or changed since Evict last came by
	flagLaid                     // dead, and what it had on disk was dropped: nobody has business with it any more
)

// State is where a site is in its life.
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

func (s *site[S]) has(flag uint8) bool { return s.flags&flag != 0 }

func (s *site[S]) queued() int {
	if s.queue == nil {
		return 0
	}
	return s.queue.count
}

// state derives the state from the facts. An empty queue is given back at once, so that there is one means items.
func (s *site[S]) state() State {
	switch {
	case s.at == buried:
		return Dead
	case s.has(flagLeased):
		return Leased
	case s.at == nowhere:
		return Newborn
	case s.at == deferred:
		return Deferred
	case s.has(flagParked):
		return Parked
	case s.queue != nil:
		return Waiting
	default:
		return Idle
	}
}
