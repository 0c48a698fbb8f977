package members

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// process is one start of an agent. Its name is unique: the ID and 64 random bits, so that memberlist never takes a restarted agent for the
// old one (its own numbers of incarnation begin anew with each start, which is how agents get lost when many restart at a time).
type process struct {
	name string
	card
	doubted time.Time // since when this agent's probes of it fail; zero if they do not
}

// rosterMax bounds what is remembered of those who are gone. IDs are few: one that an operator has not used for so many others may be forgotten.
const rosterMax = 4096

// roster is the book of who is there and who was. It knows no memberlist, no clock and no lock: the Group has them.
//
// The order of the starts of one ID is its term, which the group gives: who comes begins a term above the last one of its ID that ended,
// and so does who was taken for dead and is not. What a process said in an ended term is an echo, or a replay, and is not heard.
type roster struct {
	self   process
	living map[string]*process   // by name, without self
	starts map[string][]*process // the same by ID: more than one while an agent restarts
	ids    []string              // the keys of starts, sorted
	floors map[string]uint64     // by ID: the last term that has ended
	gone   map[string]*Gone      // by ID: who is not there any more
	deaths []time.Time           // of processes that memberlist may still count
}

func newRoster(self process) *roster {
	return &roster{self: self, living: map[string]*process{}, starts: map[string][]*process{}, floors: map[string]uint64{}, gone: map[string]*Gone{}}
}

// admits says whether memberlist may believe that a process lives. A member that is known to be living may say so again in whatever term:
// else it could not refute a suspicion. A candidate has no term yet, and is in nobody's View.
func (r *roster) admits(name string, c *card) error {
	if c.agent.Crawl != r.self.agent.Crawl {
		return fmt.Errorf("%w: %q belongs to crawl %q and this agent to %q", ErrCrawl, c.agent.ID, c.agent.Crawl, r.self.agent.Crawl)
	}
	known := r.living[name]
	if known == nil && len(r.living) >= rosterMax {
		return errCrowd
	}
	if c.stage != candidate && c.term <= r.floors[c.agent.ID] && (known == nil || known.stage == candidate) {
		return errEnded
	}
	return nil
}

// add and drop keep living and what is made of it.
func (r *roster) add(p *process) {
	r.living[p.name] = p
	r.index(p)
}

// index puts a process where its ID says. A process keeps its ID, but for those that lie.
func (r *roster) index(p *process) {
	id := p.agent.ID
	if len(r.starts[id]) == 0 {
		at, _ := slices.BinarySearch(r.ids, id)
		r.ids = slices.Insert(r.ids, at, id)
	}
	r.starts[id] = append(r.starts[id], p)
}

func (r *roster) unindex(p *process) {
	id := p.agent.ID
	rest := slices.DeleteFunc(r.starts[id], func(q *process) bool { return q == p })
	if len(rest) > 0 {
		r.starts[id] = rest
		return
	}
	delete(r.starts, id)
	if at, found := slices.BinarySearch(r.ids, id); found {
		r.ids = slices.Delete(r.ids, at, at+1)
	}
}

func (r *roster) drop(p *process) {
	delete(r.living, p.name)
	r.unindex(p)
}

// put notes that a process lives and what it says of itself. It reports whether anything changed.
func (r *roster) put(name string, c card, now time.Time) bool {
	p := r.living[name]
	if p == nil {
		p = &process{name: name, card: c}
		r.add(p)
	} else if p.card == c {
		return false
	} else if p.agent.ID != c.agent.ID {
		r.unindex(p)
		p.card = c
		r.index(p)
	}
	p.card, p.doubted = c, time.Time{}
	if c.stage == leaving {
		r.bury(p, now, true)
	}
	return true
}

// end notes that memberlist has given up on a process.
func (r *roster) end(name string, now time.Time, remembered time.Duration) bool {
	p := r.living[name]
	if p == nil {
		return false
	}
	r.drop(p)
	r.deaths = slices.DeleteFunc(r.deaths, func(t time.Time) bool { return now.Sub(t) > remembered })
	r.deaths = append(r.deaths, now)
	r.bury(p, now, p.stage == leaving)
	return true
}

// bury writes down a process that is gone or going. An agent that is there again in another process is not gone.
func (r *roster) bury(p *process, now time.Time, left bool) {
	if p.stage == candidate {
		return
	}
	id := p.agent.ID
	r.floors[id] = max(r.floors[id], p.term)
	if old := r.gone[id]; (old == nil || old.term < p.term) && !r.isThere(id) {
		r.gone[id] = &Gone{Agent: p.agent, When: now, Left: left, term: p.term}
	}
	if len(r.floors) > rosterMax {
		r.forget()
	}
}

// forget drops the floor of the ID that has been away for longest.
func (r *roster) forget() {
	var oldest string
	var when time.Time
	for id := range r.floors {
		if r.isThere(id) || id == r.self.agent.ID {
			continue
		}
		var t time.Time
		if g := r.gone[id]; g != nil {
			t = g.When
		}
		if oldest == "" || t.Before(when) {
			oldest, when = id, t
		}
	}
	delete(r.floors, oldest)
	delete(r.gone, oldest)
}

func (r *roster) isThere(id string) bool {
	return slices.ContainsFunc(r.starts[id], func(p *process) bool { return p.stage == member })
}

// learn takes over a floor from another agent. What lives here is not ended by hearsay: memberlist settles who is dead.
func (r *roster) learn(id string, term uint64) {
	if slices.ContainsFunc(r.starts[id], func(p *process) bool { return p.term <= term }) {
		return
	}
	if term > r.floors[id] && (len(r.floors) < rosterMax || r.floors[id] > 0) {
		r.floors[id] = term
	}
}

// size is how many processes memberlist counts, as far as one can tell from outside.
func (r *roster) size() int { return 1 + len(r.living) + len(r.deaths) }

// beats settles which of two members of one ID is the agent: the later term; with equal terms, which only two groups can make that grew
// apart, the smaller name.
func (p *process) beats(q *process) bool {
	return p.term > q.term || p.term == q.term && p.name < q.name
}

// agents are the members, one for each ID, in the order of their IDs.
func (r *roster) agents() (agents []Agent, doubted []string) {
	agents = make([]Agent, 0, len(r.ids)+1)
	take := func(p *process) {
		agents = append(agents, p.agent)
		if !p.doubted.IsZero() {
			doubted = append(doubted, p.agent.ID)
		}
	}
	self := false
	for _, id := range r.ids {
		if !self && id >= r.self.agent.ID {
			take(&r.self)
			self = true
		}
		if id == r.self.agent.ID {
			continue
		}
		var best *process
		for _, p := range r.starts[id] {
			if p.stage == member && (best == nil || p.beats(best)) {
				best = p
			}
		}
		if best != nil {
			take(best)
		}
	}
	if !self {
		take(&r.self)
	}
	return agents, doubted
}

// stays says whether anybody else is there who does not leave.
func (r *roster) stays() bool {
	for _, p := range r.living {
		if p.stage != leaving {
			return true
		}
	}
	return false
}

// absent are those who are gone, by their IDs, without those who are there again.
func (r *roster) absent() (gone []Gone) {
	for id, g := range r.gone {
		if r.isThere(id) || id == r.self.agent.ID {
			delete(r.gone, id)
			continue
		}
		gone = append(gone, *g)
	}
	slices.SortFunc(gone, func(a, b Gone) int { return strings.Compare(a.Agent.ID, b.Agent.ID) })
	return gone
}

// rival is a living process with our ID somewhere else; at our own address nothing else can be alive. Of several it is the strongest.
func (r *roster) rival() (rival *process) {
	for _, p := range r.starts[r.self.agent.ID] {
		if p.stage == leaving || p.agent.Gossip == r.self.agent.Gossip {
			continue
		}
		if rival == nil || cmp.Or(cmp.Compare(p.stage, rival.stage), cmp.Compare(p.term, rival.term), strings.Compare(rival.name, p.name)) > 0 {
			rival = p
		}
	}
	return rival
}

// nextTerm is the term that this process begins: above all that its ID had.
func (r *roster) nextTerm() uint64 {
	last := r.floors[r.self.agent.ID]
	for _, p := range r.starts[r.self.agent.ID] {
		last = max(last, p.term)
	}
	if last == math.MaxUint64 {
		return last
	}
	return max(r.self.term, last+1)
}

// lives says whether some living process listens at the address.
func (r *roster) lives(at netip.AddrPort) bool {
	for _, p := range r.living {
		if p.agent.Gossip == at && p.stage != leaving {
			return true
		}
	}
	return at == r.self.agent.Gossip
}
