package engine

import (
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/ring"
	"orbweaver/engine/urlx"
)

// circle is who is responsible for which host, as one agent sees it at one moment. It never changes.
type circle struct {
	peers []Peer
	who   ring.Assignment
	self  int
	// shares are the parts of all hosts that they are responsible for.
	shares []float64
	// salts tell the URLs that were sent to one agent from those that were sent to another, or to the same before it lost its data: in the
	// fingerprint cache each is another one. So when a host changes hands, exactly its URLs pass again.
	salts []xxh3.Uint128
}

// newCircle makes the circle of those who are there, of whom self is one.
func newCircle(peers []Peer, self string) (*circle, error) {
	members := make([]ring.Member, len(peers))
	for i, p := range peers {
		members[i] = ring.Member{ID: p.ID, Capacity: p.Capacity}
	}
	who, err := ring.NewConsistent(members, ring.ReplicasDefault)
	if err != nil {
		return nil, fmt.Errorf("engine: agents: %w", err)
	}
	c := &circle{who: who, shares: who.Shares(), self: -1}
	for i, m := range who.Members() {
		p := peers[slices.IndexFunc(peers, func(p Peer) bool { return p.ID == m.ID })]
		c.peers = append(c.peers, p)
		c.salts = append(c.salts, xxh3.HashString128Seed(p.ID, p.Store))
		if p.ID == self {
			c.self = i
		}
	}
	if c.self < 0 {
		return nil, fmt.Errorf("engine: agents: %q is not among those who are there", self)
	}
	return c, nil
}

// owner is the number of the agent that is responsible for a site or URL.
func (c *circle) owner(url []byte) int {
	if len(c.peers) == 1 {
		return c.self
	}
	return c.who.Owner(ring.Key(urlx.Host(url)))
}

// mine says that this agent is responsible for a site or URL.
func (c *circle) mine(url []byte) bool { return c.owner(url) == c.self }

// salted is the fingerprint of a URL on its way to an agent.
func (c *circle) salted(fp xxh3.Uint128, owner int) xxh3.Uint128 {
	return xxh3.Uint128{Hi: fp.Hi ^ c.salts[owner].Hi, Lo: fp.Lo ^ c.salts[owner].Lo}
}

// same says that two circles have the same agents with the same data.
func (c *circle) same(other *circle) bool { return slices.Equal(c.peers, other.peers) }

// hasAll says that all agents of another circle are in this one.
func (c *circle) hasAll(other *circle) bool {
	return !slices.ContainsFunc(other.peers, func(p Peer) bool { return !c.has(p.ID) })
}

// has says that an agent is there.
func (c *circle) has(id string) bool {
	return slices.ContainsFunc(c.peers, func(p Peer) bool { return p.ID == id })
}
