package order

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"orbweaver/engine/state/queued"
)

// Visit is the value of --visit: a mode, and the number that belongs to it.
type Visit struct {
	Mode  Mode
	Depth int // of ModePerHost
}

// Mode is a policy.
type Mode uint8

// The modes.
const (
	ModeBreadthFirst Mode = iota
	ModeRanked
	ModePerHost
	ModeBottomUp
	ModeFocused
	modes
)

// perHostMost is the largest number of per-host:D.
const perHostMost = 1000

// visitWords are the names of the modes.
func visitWords() [modes]string {
	return [modes]string{"breadth-first", "ranked", "per-host:", "bottom-up", "focused"}
}

// String is what UnmarshalText reads.
func (v Visit) String() string {
	word := visitWords()[v.Mode]
	if v.Mode == ModePerHost {
		word += strconv.Itoa(v.Depth)
	}
	return word
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Visit) UnmarshalText(text []byte) error {
	for mode, word := range visitWords() {
		number, isMode := strings.CutPrefix(string(text), word)
		switch {
		case !isMode:
		case Mode(mode) == ModePerHost:
			depth, err := strconv.Atoi(number)
			if err != nil || depth < 0 || depth > perHostMost {
				return fmt.Errorf("%.60q: write a depth from 0 to %d, such as per-host:8", text, perHostMost)
			}
			*v = Visit{Mode: ModePerHost, Depth: depth}
			return nil
		case number == "":
			*v = Visit{Mode: Mode(mode)}
			return nil
		}
	}
	return fmt.Errorf("%.60q is no order: write breadth-first, ranked, per-host:DEPTH, bottom-up or focused", text)
}

// Options are the options of the order.
type Options struct {
	Visit Visit `type:"term" help:"Which URLs come to their hosts first. breadth-first: those that were found first. ranked: those of domains that many other domains link to; a domain that nothing else links to, as a spam farm, comes last. per-host:DEPTH: a host is visited to that depth before the next one. bottom-up: those in the deepest folders. focused: those with the largest --score. Several agents must have the same order." words:"breadth-first,ranked,per-host:8,bottom-up,focused" default:"breadth-first" placeholder:"ORDER"`

	Budgets  Budgets `kong:"-"` // weights of domains from outside, for ModeRanked
	HasScore bool    `kong:"-"` // links have a score, for ModeFocused
	IsShared bool    `kong:"-"` // other agents take part
}

// Allows says why a crawl cannot have an order; nil if it can.
func (o *Options) Allows(v Visit) error {
	switch {
	case v.Mode == ModeFocused && !o.HasScore:
		return errors.New("focused needs a score: say with --score which links come first, from the start of a run, " +
			"as --score 'anchor contains \"jazz\"', or with --hook link=CMD")
	}
	return nil
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
	// first. Safe for concurrent use.
	Owns(queue int) bool
	// QueueOf returns the queue of a ready URL, whose Rest is whole. It borrows it.
	QueueOf(url *queued.URL) int
	// Add notes that a queue has n URLs more.
	Add(queue int, n uint64)
	// Next returns the queue whose oldest URL is next; ok is false if there is none.
	Next() (queue int, ok bool)
	// Took notes that the oldest URL of a queue was taken.
	Took(queue int)
	// Explain says what the policy does with a URL whose Rest is whole. Without isQueued, nothing else of it is known. It
	// changes nothing. Safe for concurrent use.
	Explain(url *queued.URL, isQueued bool) Explanation
	// Largest returns the domains with the largest weights, of those that have queued URLs. Domain is empty, since the
	// policy does not know it. It is nil if the policy has no domains. Safe for concurrent use.
	Largest(most int) []Place
	// State is what a checkpoint keeps; nil for nothing.
	State() []byte
}

// Explanation is what an order does with a URL.
type Explanation struct {
	Visit   string `json:"visit"`             // the order, as in --visit
	Class   int    `json:"class,omitempty"`   // from 1, whose URLs come first; 0 if it is not known
	Classes int    `json:"classes,omitempty"` // 0: the order has none
	By      string `json:"by,omitempty"`      // what decides about the class
	*Place         // its domain, of ranked; nil if it is not known
}

// Place is the queue of a domain, and its turn.
type Place struct {
	Domain string  `json:"domain"`
	Weight float64 `json:"weight"`
	Budget bool    `json:"budget"`  // the weight is that of --budgets
	Pages  int64   `json:"pages"`   // that have had their turn
	Queued int64   `json:"queued"`  // URLs of the queue
	Before int     `json:"domains"` // whose turn comes first; of a queue without URLs 0
	Queue  int     `json:"-"`
}

// New returns the policy of the options. state is what State returned in an earlier run with the same seed, or nil.
func New(o Options, seed uint64, state []byte) Policy {
	switch o.Visit.Mode {
	case ModeRanked:
		return newRanked(o.Budgets, seed, state)
	case ModePerHost:
		return newPerHost(o.Visit.Depth, seed, state)
	case ModeBottomUp:
		return &bottomUp{state: state}
	case ModeFocused:
		return &focused{state: state}
	default:
		return BreadthFirst{state}
	}
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
func (BreadthFirst) QueueOf(*queued.URL) int { return 0 }

// Add implements Policy.
func (BreadthFirst) Add(int, uint64) {}

// Next implements Policy.
func (BreadthFirst) Next() (queue int, ok bool) { return 0, false }

// Took implements Policy.
func (BreadthFirst) Took(int) {}

// Explain implements Policy.
func (BreadthFirst) Explain(*queued.URL, bool) Explanation {
	return Explanation{Visit: Visit{}.String()}
}

// Largest implements Policy.
func (BreadthFirst) Largest(int) []Place { return nil }

// State implements Policy.
func (b BreadthFirst) State() []byte { return b.state }

// turnOfAny is how many URLs come in the order of a policy, before one comes from any queue.
const turnOfAny = 64

// Current is the order of a crawl, which may change while it runs. Safe for concurrent use, except Adopt.
type Current struct {
	options Options
	seed    uint64
	policy  atomic.Pointer[Policy]
	wanted  atomic.Pointer[Visit] // nil if the order need not change
}

// NewCurrent returns the order of the options: see New.
func NewCurrent(o Options, seed uint64, state []byte) *Current {
	c := &Current{options: o, seed: seed}
	policy := New(o, seed, state)
	c.policy.Store(&policy)
	return c
}

// Policy is the order in force.
func (c *Current) Policy() Policy { return *c.policy.Load() }

// State is that of the order in force.
func (c *Current) State() []byte { return c.Policy().State() }

// Largest is that of the order in force.
func (c *Current) Largest(most int) []Place { return c.Policy().Largest(most) }

// Allows is that of the options.
func (c *Current) Allows(v Visit) error { return c.options.Allows(v) }

// AllowsChange says why the order cannot change while the crawl runs; nil if it can.
func (c *Current) AllowsChange(to Visit) error {
	if c.options.IsShared {
		return errors.New("all agents have the same order: stop all of them, and resume each with --visit " + to.String())
	}
	return c.Allows(to)
}

// LeastDepth returns from which depth of a host, plus 1, the visits of the order are counted; 0 if that is not known or
// does not count. site is a key or a URL.
func (c *Current) LeastDepth(site []byte) uint8 {
	if p, ok := c.Policy().(*perHost); ok {
		return p.leastDepth(site)
	}
	return 0
}

// NoteLeastDepth notes what LeastDepth returned at another agent, from which the host comes.
func (c *Current) NoteLeastDepth(site []byte, least uint8) {
	if p, ok := c.Policy().(*perHost); ok {
		p.noteDepth(site, least)
	}
}

// Change asks for another order, which Adopt puts into force.
func (c *Current) Change(to Visit) { c.wanted.Store(&to) }

// Adopt puts the order into force that was asked for last, and reports whether there was one. The new order begins with
// the state of the one before, and has no queues: its user adds those on disk. Only the Distributor calls it.
func (c *Current) Adopt() bool {
	to := c.wanted.Swap(nil)
	if to == nil {
		return false
	}
	options := c.options
	options.Visit = *to
	policy := New(options, c.seed, c.State())
	c.policy.Store(&policy)
	return true
}
