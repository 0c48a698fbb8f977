package ownership

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/peering/ring"
	"orbweaver/internal/urlx"
)

// View says which agent owns each host, as one agent sees it. It never changes.
type View struct {
	Agents    []Agent
	Instances []string // of Agents, in the same order
	// Assignment maps hosts to indexes of Agents.
	Assignment ring.Assignment
	Method     Method    // of the assignment
	Self       int       // the index of this agent; -1 if it leaves
	Shares     []float64 // the part of all hosts that each agent owns

	// salts tell the URLs that were sent to one agent from those that were sent to another, or to the same agent before
	// it lost its data: each has another fingerprint in the fingerprint cache.
	salts []xxh3.Uint128
	// everAll is the view of all agents that ever were members; nil if all are there. The owner of a host by everAll
	// never changed while it was there, since agents that come or go never move a host between two others. Any other
	// host has a temporary owner.
	everAll *View
	// temporarySalt tells the URLs of a temporary owner from the same URLs at an earlier time: what the sieve knew then
	// may have gone to their owner, and was lost with it.
	temporarySalt xxh3.Uint128

	mu      sync.Mutex
	without map[string]ring.Assignment // without some agents, by the indexes of these; guarded by mu
}

// Current holds the view in force.
type Current struct{ atomic.Pointer[View] }

// OtherOwner is the ID of the agent that owns a site or URL; "" if that is this agent.
func (c *Current) OtherOwner(url []byte) string {
	v := c.Load()
	if v == nil || len(v.Agents) < 2 || v.Owns(url) {
		return ""
	}
	return v.Agents[v.OwnerOf(url)].ID
}

// NewView makes the view of the agents that are there, whose hosts a method assigns. self is the ID of this agent,
// empty if it leaves. everAll are all agents that ever were members; births counts how often one came.
func NewView(m Method, agents, everAll []Agent, births uint64, self string) (v *View, err error) {
	if v, err = newView(m, agents, self); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(everAll, func(a Agent) bool { return !v.Has(a) }) {
		v.everAll, err = newView(m, everAll, self)
		v.temporarySalt = xxh3.HashString128Seed("loan", births)
	}
	return v, err
}

func newView(method Method, agents []Agent, self string) (*View, error) {
	assignment, err := method.Assign(agents)
	if err != nil {
		return nil, err
	}
	v := &View{Assignment: assignment, Method: method, Shares: assignment.Shares(), Self: -1}
	for i, m := range assignment.Members() {
		a := agents[slices.IndexFunc(agents, func(a Agent) bool { return a.ID == m.ID })]
		v.Agents, v.Instances = append(v.Agents, a), append(v.Instances, a.Instance())
		v.salts = append(v.salts, xxh3.HashString128Seed(a.ID, a.Store))
		if a.ID == self {
			v.Self = i
		}
	}
	if v.Self < 0 && self != "" {
		return nil, fmt.Errorf("ownership: agents: %q is not among the agents that are there", self)
	}
	return v, nil
}

// Alone is the view of a crawl with one agent.
func Alone() *View {
	v, err := newView(Consistent, []Agent{{ID: "alone", Capacity: 1}}, "alone")
	if err != nil {
		panic("BUG: ownership: the view of a single agent: " + err.Error())
	}
	return v
}

// OwnsAll says that this agent owns every host, and none temporarily.
func (v *View) OwnsAll() bool { return len(v.Agents) == 1 && v.Self == 0 && v.everAll == nil }

// HasTemporary says that this agent may be the temporary owner of hosts.
func (v *View) HasTemporary() bool { return v.everAll != nil }

// OwnerOf is the index of the agent that owns a site or URL.
func (v *View) OwnerOf(url []byte) int { return v.HostOwner(urlx.Host(url)) }

// HostOwner is the index of the agent that owns a host.
func (v *View) HostOwner(host []byte) int {
	if len(v.Agents) == 1 {
		return 0
	}
	return v.Assignment.Owner(ring.Key(host))
}

// IsTemporary says of a site or URL of this agent that it goes to another agent as soon as that agent is back.
func (v *View) IsTemporary(url []byte) bool { return v.everAll != nil && !v.everAll.Owns(url) }

// Owns says that this agent owns a site or URL.
func (v *View) Owns(url []byte) bool { return v.OwnerOf(url) == v.Self }

// Salted is the fingerprint of a URL whose owner has an index: it is another than fp if the URL goes to another agent
// or has a temporary owner.
func (v *View) Salted(fp xxh3.Uint128, url []byte, owner int) xxh3.Uint128 {
	salt := v.salts[owner]
	if owner == v.Self {
		if !v.IsTemporary(url) {
			return fp
		}
		salt = v.temporarySalt
	}
	return xxh3.Uint128{Hi: fp.Hi ^ salt.Hi, Lo: fp.Lo ^ salt.Lo}
}

// Equal says that two views have the same agents with the same data.
func (v *View) Equal(other *View) bool { return slices.Equal(v.Agents, other.Agents) }

// Has says that an agent with its data is in the view.
func (v *View) Has(a Agent) bool { return v.HasInstance(a.Instance()) }

// HasInstance says the same of an instance.
func (v *View) HasInstance(instance string) bool { return slices.Contains(v.Instances, instance) }

// Hash tells the agents of one view from those of another.
func (v *View) Hash() uint64 { return Hash(v.Agents) }

// Successors are the indexes of at most limit agents that would own a site or URL, one after the other, without this
// agent and those before them.
func (v *View) Successors(url []byte, limit int) (owners []int) {
	key := ring.Key(urlx.Host(url))
	removed := []int{v.Self}
	for len(owners) < limit && len(removed) < len(v.Agents) {
		i := v.ownerWithout(key, removed)
		owners = append(owners, i)
		removed = append(removed, i)
	}
	return owners
}

// Predecessors are the indexes of at most limit agents that come before this one for a URL: its owner, and the agents
// that would own it, one after the other, without those before them. There are none if this agent is the owner.
func (v *View) Predecessors(url []byte, limit int) (owners []int) {
	owner := v.OwnerOf(url)
	for owner != v.Self && len(owners) < limit {
		owners = append(owners, owner)
		owner = v.ownerWithout(ring.Key(urlx.Host(url)), owners)
	}
	return owners
}

// ownerWithout is the agent that would own a key without some agents. The assignments to the remaining agents are built
// when they are needed, and kept.
func (v *View) ownerWithout(key uint64, removed []int) int {
	removed = slices.Sorted(slices.Values(removed))
	var left []int
	for i := range v.Agents {
		if !slices.Contains(removed, i) {
			left = append(left, i)
		}
	}
	if len(left) == 1 {
		return left[0]
	}
	name := fmt.Sprint(removed)
	v.mu.Lock()
	defer v.mu.Unlock()
	assignment := v.without[name]
	if assignment == nil {
		others := make([]Agent, len(left))
		for k, i := range left {
			others[k] = v.Agents[i]
		}
		var err error
		if assignment, err = v.Method.Assign(others); err != nil {
			panic(fmt.Sprintf("BUG: ownership: agents of a view make none without some of them: %v", err))
		}
		if v.without == nil {
			v.without = make(map[string]ring.Assignment)
		}
		v.without[name] = assignment
	}
	return left[assignment.Owner(key)]
}
