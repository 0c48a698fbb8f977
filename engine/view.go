package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/ring"
	"orbweaver/engine/urlx"
)

// circle is who is responsible for which host, as one agent sees it at one moment. It never changes.
type circle struct {
	peers []Peer
	lines []string // of peers
	who   ring.Assignment
	self  int // -1 if this agent leaves
	// shares are the parts of all hosts that they are responsible for.
	shares []float64
	// salts tell the URLs that were sent to one agent from those that were sent to another, or to the same before it
	// lost its data: in the fingerprint cache each is another one. So when a host changes hands, exactly its URLs pass
	// again.
	salts []xxh3.Uint128
	// all is the circle of all agents that there ever were; nil if all are there. Who would be responsible for a host
	// if all were there has been so all the while, since agents that go or come never move a host between two others
	// (contravariance). Any other host is this agent's until somebody comes back: on loan.
	all *circle
	// loan tells the URLs of hosts on loan from what they were in an earlier loan: what the sieve knew then may have
	// gone to their owner, and died with it.
	loan xxh3.Uint128

	mu      sync.Mutex
	without map[string]ring.Assignment // of those that are left without some, by the numbers of these; guarded by mu
}

// newCircle makes the circle of those who are there, of whom self is one, or none if it is empty: then this agent
// leaves. All is all that there ever were, births how often somebody came.
func newCircle(peers, all []Peer, births uint64, self string) (c *circle, err error) {
	if c, err = circleOf(peers, self); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(p Peer) bool { return !c.has(p) }) {
		c.all, err = circleOf(all, self)
		c.loan = xxh3.HashString128Seed("loan", births)
	}
	return c, err
}

func circleOf(peers []Peer, self string) (*circle, error) {
	who, err := assign(peers)
	if err != nil {
		return nil, err
	}
	c := &circle{who: who, shares: who.Shares(), self: -1}
	for i, m := range who.Members() {
		p := peers[slices.IndexFunc(peers, func(p Peer) bool { return p.ID == m.ID })]
		c.peers, c.lines = append(c.peers, p), append(c.lines, p.line())
		c.salts = append(c.salts, xxh3.HashString128Seed(p.ID, p.Store))
		if p.ID == self {
			c.self = i
		}
	}
	if c.self < 0 && self != "" {
		return nil, fmt.Errorf("engine: agents: %q is not among those who are there", self)
	}
	return c, nil
}

// hasLoans says that this agent may own hosts on loan.
func (c *circle) hasLoans() bool { return c.all != nil }

// owner is the number of the agent that is responsible for a site or URL.
func (c *circle) owner(url []byte) int { return c.ownerOf(urlx.Host(url)) }

// ownerOf is the same for a host.
func (c *circle) ownerOf(host []byte) int {
	if len(c.peers) == 1 {
		return 0
	}
	return c.who.Owner(ring.Key(host))
}

// onLoan says of a site or URL of this agent that it will go back to another when that one comes back.
func (c *circle) onLoan(url []byte) bool { return c.all != nil && !c.all.mine(url) }

// mine says that this agent is responsible for a site or URL.
func (c *circle) mine(url []byte) bool { return c.owner(url) == c.self }

// salted is the fingerprint of a URL on its way to an agent, or on loan.
func (c *circle) salted(fp xxh3.Uint128, url []byte, owner int) xxh3.Uint128 {
	salt := c.salts[owner]
	if owner == c.self {
		if !c.onLoan(url) {
			return fp
		}
		salt = c.loan
	}
	return xxh3.Uint128{Hi: fp.Hi ^ salt.Hi, Lo: fp.Lo ^ salt.Lo}
}

// same says that two circles have the same agents with the same data.
func (c *circle) same(other *circle) bool { return slices.Equal(c.peers, other.peers) }

// has says that an agent is there, with the data that it had.
func (c *circle) has(p Peer) bool { return c.hasLine(p.line()) }

func (c *circle) hasLine(line string) bool { return slices.Contains(c.lines, line) }

// nearest are up to t agents who would be responsible for a site or URL one after the other, were this agent and those
// before them not there.
func (c *circle) nearest(url []byte, t int) (peers []int) {
	key := ring.Key(urlx.Host(url))
	out := []int{c.self}
	for len(peers) < t && len(out) < len(c.peers) {
		i := c.ownerWithout(key, out)
		peers = append(peers, i)
		out = append(out, i)
	}
	return peers
}

// ownerWithout is who would be responsible for a key if some were not there. The circles of those who are left are made
// when they are needed, and kept.
func (c *circle) ownerWithout(key uint64, out []int) int {
	out = slices.Sorted(slices.Values(out))
	var left []int
	for i := range c.peers {
		if !slices.Contains(out, i) {
			left = append(left, i)
		}
	}
	if len(left) == 1 {
		return left[0]
	}
	name := fmt.Sprint(out)
	c.mu.Lock()
	defer c.mu.Unlock()
	who := c.without[name]
	if who == nil {
		others := make([]Peer, len(left))
		for k, i := range left {
			others[k] = c.peers[i]
		}
		var err error
		if who, err = assign(others); err != nil {
			panic(fmt.Sprintf("BUG: engine: agents that made a circle make none without some: %v", err))
		}
		if c.without == nil {
			c.without = make(map[string]ring.Assignment)
		}
		c.without[name] = who
	}
	return left[who.Owner(key)]
}

// hash tells the agents of one circle from those of another.
func (c *circle) hash() uint64 { return hashOf(c.peers) }

// ahead are up to t agents who come before this one for a URL: who is responsible, and who would be one after the
// other, were those before them not there. None if this agent is responsible.
func (c *circle) ahead(url []byte, t int) (peers []int) {
	n := c.owner(url)
	for n != c.self && len(peers) < t {
		peers = append(peers, n)
		n = c.ownerWithout(ring.Key(urlx.Host(url)), peers)
	}
	return peers
}
