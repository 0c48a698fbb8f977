package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/vfs"
)

// votingCluster is some agents that do nothing but ask for leases to fetch, in virtual time.
type votingCluster struct {
	t      *testing.T
	agents []*votingAgent
	loops  sync.WaitGroup

	hasEnded atomic.Bool
	hasLeft  atomic.Bool // the agents that stop leave permanently

	mu  sync.Mutex
	cut map[string]bool // agents that cannot be reached, and reach no other
}

// votingAgent is an agent, its network and its loops.
type votingAgent struct {
	*votingCluster
	self      ownership.Agent
	majority  *majority
	views     *ownership.Timeline
	gate      *outage.Gate
	stop      context.CancelFunc
	proposing sync.Mutex // held by the goroutine that proposes
	away      []string   // guarded by proposing: instances that this agent takes for stopped

	leaving []ownership.Agent // guarded by proposing: that this agent knows to leave
	heard   []ownership.Agent // guarded by proposing: that leave, by the views that were new to it
}

func startVoting(t *testing.T, agents int) *votingCluster {
	t.Helper()
	c := &votingCluster{t: t, cut: map[string]bool{}}
	for i := range agents {
		a := &votingAgent{votingCluster: c, gate: outage.NewGate(func() {}), views: ownership.NewTimeline(10 * time.Second),
			self: ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1, Store: uint64(i + 1)}}
		a.views.Arrive(time.Time{})
		c.agents = append(c.agents, a)
	}
	for i, a := range c.agents {
		disk := vfs.NewMem(uint64(i))
		if err := disk.MkdirAll("f"); err != nil {
			t.Fatal(err)
		}
		var err error
		a.majority, err = openMajority(majorityOptions{
			FS: disk, Dir: "f", Self: a.self.Instance(), Network: a, Views: a.views, Gate: a.gate,
			Log: slog.New(slog.DiscardHandler), Least: agents, HasEnded: c.hasEnded.Load, HasLeft: c.hasLeft.Load,
			Retry: new(outage.DiskGuard).Wait,
		})
		if err != nil {
			t.Fatal(err)
		}
		a.goBy([]ownership.Agent{a.self})
	}
	for _, a := range c.agents {
		ctx, stop := context.WithCancel(t.Context())
		a.stop = stop
		c.loops.Go(func() {
			if err := a.majority.FollowLease(ctx); err != nil {
				t.Error(err)
			}
		})
		c.loops.Go(func() { a.follow(ctx) })
	}
	return c
}

// propose does what an agent does with what it sees.
func (a *votingAgent) propose() (agreement, bool) {
	members := slices.DeleteFunc(a.Agents(), func(b ownership.Agent) bool { return slices.Contains(a.leaving, b) })
	agreed, ok := a.majority.Propose(proposal{
		Agreed:     ownership.Agreed{Members: members, AwayAgents: a.away, LeavingAgents: a.leaving},
		IsComplete: true, IsLeaving: slices.Contains(a.leaving, a.self),
	})
	a.heard = append(a.heard, agreed.LeavingAgents...)
	return agreed, ok
}

// end ends all agents.
func (c *votingCluster) end() {
	for _, a := range c.agents {
		a.stop()
	}
	c.loops.Wait()
	c.hasEnded.Store(true)
	for _, a := range c.agents {
		a.majority.Stop(c.t.Context())
	}
}

// follow goes by the view that was agreed on, as an agent does.
func (a *votingAgent) follow(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		a.proposing.Lock()
		if agreed, ok := a.propose(); ok {
			a.goBy(agreed.Members)
			a.majority.ActByAgreed()
		}
		a.proposing.Unlock()
		select {
		case <-a.majority.Changed():
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (a *votingAgent) goBy(view []ownership.Agent) {
	self := a.self.ID
	if !slices.Contains(view, a.self) {
		self = "" // it leaves
	}
	c, err := ownership.NewView(ownership.Consistent, view, nil, 0, self)
	if err != nil {
		a.t.Error(err)
		return
	}
	a.views.Store(c)
}

// Each agent takes another one for stopped. All grant the leases of addresses by what was agreed on.
func TestMajority_agentsAgreeOnThoseThatAreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		for i, a := range c.agents {
			a.proposing.Lock()
			a.away = []string{c.agents[(i+1)%3].self.Instance()}
			a.proposing.Unlock()
		}
		time.Sleep(20 * time.Second)
		var agreed []string
		for _, a := range c.agents {
			a.proposing.Lock()
			got, _ := a.propose()
			if len(got.AwayAgents) != 1 {
				t.Errorf("%s: %v are away", a.self.ID, got.AwayAgents)
			}
			agreed = append(agreed, got.AwayAgents...)
			a.proposing.Unlock()
		}
		if len(slices.Compact(agreed)) != 1 {
			t.Errorf("the agents go by different ones: %v", agreed)
		}
		c.end()
	})
}

// The agreed view names the agents that leave, once to each agent: it may not have heard it from them.
func TestMajority_agentsHearWhoLeavesWithTheView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		time.Sleep(20 * time.Second)
		for _, a := range c.agents {
			a.proposing.Lock()
			a.leaving = []ownership.Agent{c.agents[2].self}
			a.proposing.Unlock()
		}
		time.Sleep(20 * time.Second)
		for _, a := range c.agents[:2] {
			a.proposing.Lock()
			if !slices.Equal(a.heard, a.leaving) || len(a.views.Load().Agents) != 2 {
				t.Errorf("%s heard that %v leave, and goes by %v", a.self.ID, a.heard, a.views.Load().Agents)
			}
			a.proposing.Unlock()
		}
		c.end()
	})
}

func (c *votingCluster) setCut(name string, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[name] = is
}

func (a *votingAgent) Agents() (all []ownership.Agent) {
	for _, other := range a.agents {
		all = append(all, other.self)
	}
	return all
}

func (a *votingAgent) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	a.mu.Lock()
	cut := a.cut[a.self.ID] || a.cut[to]
	a.mu.Unlock()
	if cut {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	i := slices.IndexFunc(a.agents, func(other *votingAgent) bool { return other.self.ID == to })
	return a.agents[i].majority.Answer(ctx, a.self.ID, question[1:])
}

// Exchanges end that this agent may not go on with: those with a host that another agent owns now, at once, and all
// when no majority answers any more.
func TestMajority_exchangesEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		time.Sleep(30 * time.Second) // by then no host is left alone any more
		a := c.agents[0]
		if !a.majority.MayFetch() || a.gate.Reason() != "" {
			t.Fatalf("it may not fetch: %q", a.gate.Reason())
		}
		view := a.views.Load()
		two, err := ownership.NewView(ownership.Consistent, view.Agents[:2], nil, 0, "a0")
		if err != nil {
			t.Fatal(err)
		}
		a.proposing.Lock() // so that the agent does not take its own view again meanwhile
		a.views.Store(two)
		var kept, moved cluster.Exchange
		defer kept.Close()
		defer moved.Close()
		stays, goes := siteMovedFrom(view, two), siteMovedFrom(two, view)
		kept.Open(t.Context())
		moved.Open(t.Context())
		one, other := a.majority.BeginExchange(&kept, stays), a.majority.BeginExchange(&moved, goes)
		if one.Err() != nil || other.Err() != nil {
			t.Errorf("an exchange could not begin: %v, %v; not before %v, %v", one.Err(), other.Err(),
				a.views.NotBefore(stays), a.views.NotBefore(goes))
		}
		a.views.Store(view)
		a.majority.ActByAgreed()
		a.proposing.Unlock()
		if one.Err() != nil || other.Err() == nil {
			t.Errorf("after the change: the one that stays %v, the one that goes %v", one.Err(), other.Err())
		}
		c.setCut("a0", true)
		time.Sleep(10*time.Second + 500*time.Millisecond) // the lease, and how late its end may be noticed
		moved.Open(t.Context())
		if late := a.majority.BeginExchange(&moved, stays); one.Err() == nil || late.Err() == nil {
			t.Errorf("without a majority: %v, %v", one.Err(), late.Err())
		}
		time.Sleep(2 * time.Second)
		const why = "fewer than a majority of the agents of this crawl answer: not a1, a2"
		r := a.majority.Report(time.Now())
		if a.gate.Reason() != why || r.HasLease || r.ExchangesAborted != 2 || len(r.Voters) != 3 {
			t.Errorf("%q, %+v", a.gate.Reason(), r)
		}
		if r := c.agents[1].majority.Report(time.Now()); !r.HasLease {
			t.Errorf("the others: %+v", r)
		}
		c.end()
	})
}

// siteMovedFrom is a site that this agent owns in one view. If the other is smaller, it does not own it there.
func siteMovedFrom(in, other *ownership.View) []byte {
	for i := 0; ; i++ {
		site := fmt.Appendf(nil, "http://h%d.test", i)
		if in.Owns(site) && (other.Owns(site) == (len(in.Agents) > len(other.Agents))) {
			return site
		}
	}
}

// Of two agents one leaves permanently. The other does not hear it for minutes, and is no majority alone.
func TestMajority_oneOfTwoLeavesPermanently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 2)
		time.Sleep(20 * time.Second)
		stays, leaves := c.agents[0], c.agents[1]
		cut := func(isCut bool) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.cut[leaves.self.ID] = isCut
		}
		cut(true)
		time.AfterFunc(3*time.Minute, func() { cut(false) })
		leaves.stop()
		synctest.Wait()
		c.hasLeft.Store(true)
		leaves.majority.Stop(t.Context())
		time.Sleep(time.Minute)
		if !stays.majority.MayFetch() {
			t.Error("the agent that stays may not fetch")
		}
		stays.stop()
		c.loops.Wait()
		c.hasEnded.Store(true)
		stays.majority.Stop(t.Context())
	})
}

// An agent that may have missed a view is told so: another agent may have had its hosts.
func TestMajority_aMissedView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		time.Sleep(20 * time.Second)
		a := c.agents[0]
		a.stop()
		synctest.Wait()
		a.proposing.Lock()
		defer a.proposing.Unlock()
		if agreed, ok := a.propose(); !ok || agreed.MissedView {
			t.Errorf("%+v, %v: no view is missing", agreed, ok)
		}
		a.majority.acting.index--
		a.majority.acting.count--
		if agreed, ok := a.propose(); !ok || agreed.MissedView {
			t.Errorf("%+v, %v: the next view", agreed, ok)
		}
		a.majority.acting.index--
		a.majority.acting.count -= 2
		if agreed, ok := a.propose(); !ok || !agreed.MissedView {
			t.Errorf("%+v, %v: a view was missed", agreed, ok)
		}
		c.end()
	})
}

// A crawl begins with as many agents as were said, or with a majority of those that have begun it without a quorum.
func TestMajority_agentsThatMayBegin(t *testing.T) {
	peer := func(i int) ownership.Agent {
		return ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1, Store: uint64(i)}
	}
	all := []ownership.Agent{peer(1), peer(2), peer(3), peer(4)}
	q := &majority{o: majorityOptions{Views: ownership.NewTimeline(0), Least: 3}}
	if q.mayBegin(all[:2], false) || !q.mayBegin(all[:3], false) {
		t.Error("of a new crawl")
	}
	v, err := ownership.NewView(ownership.Consistent, all, nil, 0, "a1")
	if err != nil {
		t.Fatal(err)
	}
	q.o.Views.Store(v)
	if q.mayBegin(all[:2], true) || !q.mayBegin(all[:3], true) ||
		q.mayBegin([]ownership.Agent{all[0], all[1], peer(7)}, true) {
		t.Error("of one that has begun")
	}
}

// An agent without --quorum is logged once, and not asked again for a minute: it would ban this agent.
func TestMajority_anAgentWithoutQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(refusingNetwork)
		q := &majority{
			o:       majorityOptions{Network: network, Log: slog.New(slog.DiscardHandler)},
			refused: map[string]time.Time{},
		}
		for asked := range 3 {
			for range 5 {
				if _, err := q.askOther(t.Context(), "a1/1", []byte("{}")); !errors.Is(err, peering.ErrMalformed) {
					t.Error(err)
				}
			}
			if network.asked != asked+1 {
				t.Errorf("it was asked %d times, want %d", network.asked, asked+1)
			}
			time.Sleep(refusedTime)
		}
	})
}

// refusingNetwork is the network to an agent that does not know the question.
type refusingNetwork struct{ asked int }

func (*refusingNetwork) Agents() []ownership.Agent { return nil }

func (n *refusingNetwork) Ask(context.Context, string, []byte) ([]byte, error) {
	n.asked++
	_, err := noQuorum{}.Answer(context.Background(), "a0", nil)
	return nil, err
}
