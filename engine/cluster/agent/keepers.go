package agent

import (
	"fmt"
	"slices"
	"time"

	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/ring"
)

// keepers are who keeps the books of addresses: whom the circle gives them to, as if they were hosts. An agent that has
// stopped in good order and is expected back keeps its hosts, but cannot keep books: while it is away its addresses go
// to those who would have them without it. It never changes.
type keepers struct {
	self  string // the line of this agent
	peers []ownership.Agent
	lines []string // of peers
	who   ring.Assignment
}

// keep makes those of a circle the keepers who are not away, and says whether they are others now. What was is
// remembered for grace. Only one goroutine does so at a time.
func (l *leases) keep(c *ownership.View, away []string, now time.Time, grace time.Duration) (others bool) {
	k := newKeepers(c, away)
	was := l.keepers.Load()
	if was != nil && slices.Equal(was.peers, k.peers) && was.self == k.self {
		return false
	}
	if was != nil {
		l.former.Add(was, now, grace)
	}
	l.keepers.Store(k)
	return true
}

func newKeepers(c *ownership.View, away []string) *keepers {
	k := &keepers{peers: c.Agents, lines: c.Instances, who: c.Assignment}
	if c.Self >= 0 {
		k.self = c.Instances[c.Self]
	}
	isAway := func(line string) bool { return slices.Contains(away, line) }
	here := func(line string) bool { return !isAway(line) }
	// all may be, where this agent leaves
	if !slices.ContainsFunc(c.Instances, isAway) || !slices.ContainsFunc(c.Instances, here) {
		return k
	}
	k.peers, k.lines = nil, nil
	for i, line := range c.Instances {
		if here(line) {
			k.peers, k.lines = append(k.peers, c.Agents[i]), append(k.lines, line)
		}
	}
	var err error
	if k.who, err = ownership.Assign(k.peers); err != nil {
		panic(fmt.Sprintf("BUG: engine: agents that made a circle make none without those who are away: %v", err))
	}
	return k
}

// of is the line of who keeps the book of an address.
func (k *keepers) of(a addresslease.Addr) string {
	if len(k.lines) == 1 {
		return k.lines[0]
	}
	return k.lines[k.who.Owner(ring.Key(a[:]))]
}

// mine says that this agent does.
func (k *keepers) mine(a addresslease.Addr) bool { return k.of(a) == k.self }

// has says that an agent is one of them.
func (k *keepers) has(line string) bool { return slices.Contains(k.lines, line) }
