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
}

// Classes is the number of classes. The last one has all URLs beyond.
const Classes = 16

// Policy is an order.
type Policy interface {
	// NoteLinks is told of links from a page to URLs that belong to the crawl, known or new. It borrows both. Safe for
	// concurrent use.
	NoteLinks(page []byte, urls [][]byte)
	// HasClasses reports whether URLs get a class. Otherwise Class and Next are not called.
	HasClasses() bool
	// Class returns the class of a ready URL, and counts it. Only the Distributor calls it.
	Class(url []byte) int
	// State is what a checkpoint keeps; nil for nothing.
	State() []byte
}

// New returns the policy of the options. state is what State returned in an earlier run with the same seed, or nil.
func New(o Options, seed uint64, state []byte) Policy {
	if o.Visit == ModeRanked {
		return newRanked(seed, state)
	}
	return BreadthFirst{state}
}

// BreadthFirst is the order of discovery. It keeps the state of another order for a later run.
type BreadthFirst struct{ state []byte }

// NoteLinks implements Policy.
func (BreadthFirst) NoteLinks([]byte, [][]byte) {}

// HasClasses implements Policy.
func (BreadthFirst) HasClasses() bool { return false }

// Class implements Policy.
func (BreadthFirst) Class([]byte) int { return 0 }

// State implements Policy.
func (b BreadthFirst) State() []byte { return b.state }

// Turn chooses the class whose oldest URL is next. The zero value is ready.
type Turn struct{ turns uint64 }

// turnOfHigher is how many URLs come from the lowest class that has some, before one comes from the next.
const turnOfHigher = 64

// Next returns the class to take from, by the number of URLs of each; ok is false if there is none.
func (t *Turn) Next(counts *[Classes]uint64) (class int, ok bool) {
	lowest, second := -1, -1
	for class, n := range counts {
		if n > 0 && lowest < 0 {
			lowest = class
		} else if n > 0 {
			second = class
			break
		}
	}
	if t.turns++; t.turns%turnOfHigher == 0 && second >= 0 {
		return second, true
	}
	return lowest, lowest >= 0
}
