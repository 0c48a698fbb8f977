package order

// Mode is the value of --visit.
type Mode uint8

// The modes, in the order of the flag's words.
const (
	ModeBreadthFirst Mode = iota
	ModeRanked
)

// Options are the options of the order.
type Options struct {
	Visit Mode `type:"word" help:"Which URLs come to their hosts first. breadth-first: those that were found first. ranked: those of domains that many other domains link to; a domain that nothing else links to, as a spam farm, comes last. One agent only." oneof:"breadth-first,ranked" default:"breadth-first" placeholder:"ORDER"`

	Budgets Budgets `kong:"-"` // weights of domains from outside, for ModeRanked
}

// Classes is the number of the queues of classes: those below are numbers of classes, and others of domains.
const Classes = 16

// Queues is the number of all queues of ready URLs.
const Queues = Classes + tableSize

// Policy is an order. Ready URLs wait in queues, and each queue is in the order of discovery. Only the Distributor
// calls methods that name queues.
type Policy interface {
	// NoteLinks is told of links from a page to URLs that belong to the crawl, known or new. It borrows both. Safe for
	// concurrent use.
	NoteLinks(page []byte, urls [][]byte)
	// HasQueues reports whether ready URLs wait in queues of the policy. Otherwise QueueOf and Next are not called.
	HasQueues() bool
	// Owns reports whether the policy takes URLs from a queue. If an earlier run has left some in another one, these come
	// first.
	Owns(queue int) bool
	// QueueOf returns the queue of a ready URL.
	QueueOf(url []byte) int
	// Add notes that a queue has n URLs more.
	Add(queue int, n uint64)
	// Next returns the queue whose oldest URL is next; ok is false if there is none.
	Next() (queue int, ok bool)
	// Took notes that the oldest URL of a queue was taken.
	Took(queue int)
	// State is what a checkpoint keeps; nil for nothing.
	State() []byte
}

// New returns the policy of the options. state is what State returned in an earlier run with the same seed, or nil.
func New(o Options, seed uint64, state []byte) Policy {
	if o.Visit == ModeRanked {
		return newRanked(o.Budgets, seed, state)
	}
	return BreadthFirst{state}
}

// BreadthFirst is the order of discovery. It keeps the state of another order for a later run.
type BreadthFirst struct{ state []byte }

// NoteLinks implements Policy.
func (BreadthFirst) NoteLinks([]byte, [][]byte) {}

// HasQueues implements Policy.
func (BreadthFirst) HasQueues() bool { return false }

// Owns implements Policy.
func (BreadthFirst) Owns(int) bool { return false }

// QueueOf implements Policy.
func (BreadthFirst) QueueOf([]byte) int { return 0 }

// Add implements Policy.
func (BreadthFirst) Add(int, uint64) {}

// Next implements Policy.
func (BreadthFirst) Next() (queue int, ok bool) { return 0, false }

// Took implements Policy.
func (BreadthFirst) Took(int) {}

// State implements Policy.
func (b BreadthFirst) State() []byte { return b.state }

// turnOfAny is how many URLs come in the order of a policy, before one comes from any queue.
const turnOfAny = 64
