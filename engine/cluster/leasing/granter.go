package leasing

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/peering/ring"
)

// Terms and limits of leases.
const (
	// UncontestedTerm is the term of a lease that no other agent waits for.
	UncontestedTerm = 8 * time.Second
	// RenewTerm is the term of a renewed lease, counted from the request.
	RenewTerm = 5 * time.Second
	// minSlot and maxSlot bound the term of a lease that other agents wait for. In between it is slotDelays delays.
	minSlot    = 4 * time.Second
	maxSlot    = 6 * time.Second
	slotDelays = 8
	// turnTimeout is how long the turn of an agent is kept after the time at which it should retry. Its answer and its
	// next request must have come by then: with less than their time, each loses its turn to the other, without end.
	turnTimeout = 3 * time.Second
	// contestedPeriod is how long leases stay short after two agents wanted the address at the same time.
	contestedPeriod = time.Minute
	// grantAhead is how long before its beginning a lease is granted.
	grantAhead = time.Second
	// initialUse is the assumed duration of use of a shared lease, before any was measured.
	initialUse = 300 * time.Millisecond
	// minRetry and maxRetry bound the time until a refused agent should retry, since the estimate can be wrong.
	minRetry = 50 * time.Millisecond
	maxRetry = 10 * time.Second
	// maxExchange bounds the renewals of one exchange (F2). A longer exchange is not credible.
	maxExchange = time.Hour
	// maxAddresses bounds the addresses of a Granter (F4).
	maxAddresses = 1 << 20
	// maxAddressesOfAgent bounds the addresses by the agent that requested them first. An agent contacts at most a few
	// thousand addresses in a second.
	maxAddressesOfAgent = maxAddresses / 8
	// fullRetry is the time until an agent should retry when a limit is reached.
	fullRetry = 5 * time.Second
)

// Granter grants the leases of some addresses. The zero value has granted none. It is safe for concurrent use.
type Granter struct {
	mu      sync.Mutex
	entries table[entry]   // guarded by mu, with all entries
	counts  map[string]int // guarded by mu: number of entries by the agent that requested the address first
}

// entry is what the granter knows about an address.
type entry struct {
	requester      string // the agent that requested the address first
	holder         string // the leaseholder; empty if no lease is valid
	lastHolder     string // the previous leaseholder; it knows itself when it may contact the address again
	firstGranted   time.Time
	start          time.Time // of the lease
	end            time.Time // of the lease
	uncontested    bool      // no other agent wanted the address when the lease began
	delay          time.Duration
	freeAt         time.Time     // before this only lastHolder may contact the address
	contestedUntil time.Time     // before this leases are shared
	meanUse        time.Duration // moving average of how long shared leases are used
	waiting        []turn        // the agents that wait, in order
}

// turn is the place of an agent in the queue.
type turn struct {
	agent   string
	retryAt time.Time
}

// slotTerm is the term of a lease that other agents wait for.
func slotTerm(delay time.Duration) time.Duration { return min(max(slotDelays*delay, minSlot), maxSlot) }

// Handle returns the response to a request of an agent. Before notBefore it grants no new lease, but still renews.
func (g *Granter) Handle(agent string, r Request, notBefore, now time.Time) Response {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.entries.forgetExpired(now, func(e *entry) bool {
		expired := now.After(e.end) && now.After(e.freeAt) && len(e.waiting) == 0
		if expired {
			g.uncount(e)
		}
		return expired
	})
	e := g.entries.get(r.Addr)
	if e == nil {
		if g.entries.size() >= maxAddresses || g.counts[agent] >= maxAddressesOfAgent { // F4
			return Response{RetryIn: fullRetry}
		}
		if g.counts == nil {
			g.counts = make(map[string]int)
		}
		g.counts[agent]++
		e = &entry{requester: agent}
		g.entries.put(r.Addr, e)
	}
	e.expire(now)
	switch r.Kind {
	case Release:
		return e.release(agent, r.Delay, now)
	case Renew:
		return e.renew(agent, r.Delay, now)
	default:
		return e.acquire(agent, r.Delay, notBefore, now)
	}
}

// uncount subtracts an entry from the number of its requester.
func (g *Granter) uncount(e *entry) {
	if g.counts[e.requester]--; g.counts[e.requester] == 0 {
		delete(g.counts, e.requester)
	}
}

// HadLease reports whether an agent has the lease of an address, or was its last leaseholder.
func (g *Granter) HadLease(agent string, a Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.entries.get(a)
	return e != nil && (e.holder == agent || e.holder == "" && e.lastHolder == agent)
}

// LeaseCount is the number of valid leases.
func (g *Granter) LeaseCount(now time.Time) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, entries := range [...]map[Addr]*entry{g.entries.recent, g.entries.older} {
		for _, e := range entries {
			if e.expire(now); e.holder != "" {
				n++
			}
		}
	}
	return n
}

// expire ends a lease whose term is over, and the turns of agents that did not retry in time (F3).
func (e *entry) expire(now time.Time) {
	if e.holder != "" && !now.Before(e.end) {
		e.endLease(e.end)
	}
	e.waiting = slices.DeleteFunc(e.waiting, func(t turn) bool { return now.Sub(t.retryAt) > turnTimeout })
}

// endLease ends the lease at a time, and measures its use.
func (e *entry) endLease(at time.Time) {
	if e.meanUse == 0 {
		e.meanUse = initialUse
	}
	if !e.uncontested {
		use := min(max(at.Sub(e.start), 0), maxSlot)
		e.meanUse += (use - e.meanUse) / 4
	}
	e.lastHolder, e.holder = e.holder, ""
}

func (e *entry) acquire(agent string, delay time.Duration, notBefore, now time.Time) Response {
	if e.holder == agent && !now.Before(notBefore) { // the response was lost, or the agent has forgotten the lease
		if e.uncontested && len(e.waiting) == 0 {
			e.extend(agent, UncontestedTerm, delay, now)
		}
		return e.leaseResponse(now)
	}
	place := slices.IndexFunc(e.waiting, func(t turn) bool { return t.agent == agent })
	if place < 0 {
		place = len(e.waiting)
		e.waiting = append(e.waiting, turn{agent, now})
	}
	if e.holder != "" || len(e.waiting) > 1 {
		e.contestedUntil = now.Add(contestedPeriod)
	}
	start := now
	if e.lastHolder != agent {
		start = latest(start, e.freeAt) // F1
	}
	if e.holder == "" && !now.Before(notBefore) && start.Sub(now) <= grantAhead && e.isTurnOf(agent, place, start) {
		e.waiting = slices.Delete(e.waiting, place, place+1)
		term := UncontestedTerm
		if e.uncontested = !now.Before(e.contestedUntil); !e.uncontested {
			term = slotTerm(delay)
		}
		e.firstGranted, e.start = now, start
		e.extend(agent, term, delay, start)
		return e.leaseResponse(now)
	}
	expected := latest(e.expectedFree(now).Add(time.Duration(place)*(e.meanUse+delay)), notBefore)
	retryIn := min(max(expected.Sub(now), minRetry), maxRetry)
	e.waiting[place].retryAt = now.Add(retryIn)
	return Response{RetryIn: retryIn}
}

// isTurnOf reports whether no agent that waits longer will retry before the lease starts. The last leaseholder must let
// all waiting agents pass.
func (e *entry) isTurnOf(agent string, place int, start time.Time) bool {
	if agent == e.lastHolder {
		return place == 0
	}
	return !slices.ContainsFunc(e.waiting[:place], func(t turn) bool { return !t.retryAt.After(start) })
}

// expectedFree estimates when a request can be granted: when the leaseholder has released the lease, and its delay has
// begun.
func (e *entry) expectedFree(now time.Time) time.Time {
	switch {
	case e.holder == "":
		return latest(now, e.freeAt.Add(-grantAhead/2))
	case e.uncontested:
		return e.end // the leaseholder does not know that other agents wait
	default:
		if overdue := now.Sub(e.start) - e.meanUse; overdue > 0 { // a long exchange is likely to take even longer
			return now.Add(max(e.delay/4, overdue/8))
		}
		return e.start.Add(e.meanUse + e.delay/4)
	}
}

// leaseResponse tells the leaseholder about its lease.
func (e *entry) leaseResponse(now time.Time) Response {
	return Response{Granted: true, Shared: !e.uncontested, StartsIn: max(e.start.Sub(now), 0), EndsIn: e.end.Sub(now)}
}

// renew extends the lease of an exchange that continues. If the entry has no lease, another granter granted it.
func (e *entry) renew(agent string, delay time.Duration, now time.Time) Response {
	if e.holder == "" && (e.lastHolder == agent || e.lastHolder == "") {
		if e.lastHolder == "" {
			e.firstGranted, e.start, e.uncontested = now, now, false
		}
		e.holder = agent
	}
	if e.holder != agent || now.Sub(e.firstGranted) > maxExchange {
		return Response{RetryIn: time.Second}
	}
	e.extend(agent, RenewTerm, delay, now)
	return e.leaseResponse(now)
}

// release ends a lease before its term. No other agent may contact the address during the pause.
func (e *entry) release(agent string, pause time.Duration, now time.Time) Response {
	if e.holder == agent {
		e.endLease(now)
	}
	if e.holder == "" && (e.lastHolder == agent || e.lastHolder == "") {
		e.lastHolder, e.end, e.freeAt = agent, now, now.Add(pause)
	}
	return Response{Granted: true}
}

// extend makes an agent the leaseholder at least for a term from start.
func (e *entry) extend(agent string, term, delay time.Duration, start time.Time) {
	e.holder, e.delay = agent, delay
	e.end = latest(e.end, start.Add(term))
	e.freeAt = e.end.Add(delay)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// granters are the agents that grant leases, by a view: its agents that are not away. They never change.
type granters struct {
	self       string // the instance of this agent; empty if it is not in the view
	agents     []ownership.Agent
	instances  []string // of agents
	assignment ring.Assignment
}

func newGranters(c *ownership.View, away []string) *granters {
	g := &granters{agents: c.Agents, instances: c.Instances, assignment: c.Assignment}
	if c.Self >= 0 {
		g.self = c.Instances[c.Self]
	}
	isAway := func(instance string) bool { return slices.Contains(away, instance) }
	isHere := func(instance string) bool { return !isAway(instance) }
	// all may be away, where this agent leaves
	if !slices.ContainsFunc(c.Instances, isAway) || !slices.ContainsFunc(c.Instances, isHere) {
		return g
	}
	g.agents, g.instances = nil, nil
	for i, instance := range c.Instances {
		if isHere(instance) {
			g.agents, g.instances = append(g.agents, c.Agents[i]), append(g.instances, instance)
		}
	}
	var err error
	if g.assignment, err = c.Method.Assign(g.agents); err != nil {
		panic(fmt.Sprintf("BUG: leasing: agents of a view cannot share addresses without those that are away: %v", err))
	}
	return g
}

// of is the instance that grants the leases of an address.
func (g *granters) of(a Addr) string {
	if len(g.instances) == 1 {
		return g.instances[0]
	}
	return g.instances[g.assignment.Owner(ring.Key(a[:]))]
}

// isSelf says whether this agent grants the leases of an address.
func (g *granters) isSelf(a Addr) bool { return g.of(a) == g.self }

// has says whether an instance is a granter.
func (g *granters) has(instance string) bool { return slices.Contains(g.instances, instance) }
