package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/journal"
	"orbweaver/engine/outage"
	"orbweaver/internal/vfs"
)

// votingCluster is some agents that do nothing but ask for leave to fetch, in virtual time.
type votingCluster struct {
	t      *testing.T
	agents []*votingAgent
	loops  sync.WaitGroup

	mu  sync.Mutex
	cut map[string]bool // agents that nobody reaches, and that reach nobody
}

// votingAgent is the seam of an agent, and its loops.
type votingAgent struct {
	*votingCluster
	self  ownership.Agent
	peers *agent
	stop  context.CancelFunc
	turn  sync.Mutex // one goroutine at a time does what peers.run does
	away  []string   // guarded by turn: instances that this agent takes for stopped
}

func startVoting(t *testing.T, agents int) *votingCluster {
	t.Helper()
	c := &votingCluster{t: t, cut: map[string]bool{}}
	for i := range agents {
		a := &votingAgent{votingCluster: c,
			self: ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1, Store: uint64(i + 1)}}
		c.agents = append(c.agents, a)
	}
	for i, a := range c.agents {
		disk := vfs.NewMem(uint64(i))
		if err := disk.MkdirAll("f"); err != nil {
			t.Fatal(err)
		}
		p := &agent{
			network: a, store: a.self.Store, instance: a.self.Instance(), gate: outage.NewGate(func() {}),
			log: slog.New(slog.DiscardHandler), views: ownership.NewTimeline(peerGrace),
			journal: &journal.Store{Disk: &outage.DiskGuard{}},
		}
		p.views.Arrive(time.Time{})
		a.peers = p
		p.leases, p.end = newLeases(p, func() time.Duration { return time.Second }), newDetector(p)
		p.options = Options{Quorum: true, Agents: agents}
		if err := openQuorum(p, disk, "f"); err != nil {
			t.Fatal(err)
		}
		a.goBy([]ownership.Agent{a.self})
	}
	for _, a := range c.agents {
		p := a.peers
		ctx, stop := context.WithCancel(t.Context())
		a.stop = stop
		c.loops.Go(func() {
			if err := p.quorum.run(ctx); err != nil {
				t.Error(err)
			}
		})
		c.loops.Go(func() { a.follow(ctx) })
	}
	return c
}

// end ends all agents.
func (c *votingCluster) end() {
	for _, a := range c.agents {
		a.stop()
	}
	c.loops.Wait()
	for _, a := range c.agents {
		a.peers.quorum.hasEnded = func() bool { return true }
		a.peers.quorum.stop(c.t.Context())
	}
}

// follow goes by the view that was agreed on, as peers.run does.
func (a *votingAgent) follow(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		a.turn.Lock()
		a.peers.expected = a.away
		if view, ok := a.peers.quorum.agreed(a.Agents(), true); ok {
			a.goBy(view)
			a.peers.quorum.acts()
		}
		a.turn.Unlock()
		select {
		case <-a.peers.quorum.changed():
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (a *votingAgent) goBy(view []ownership.Agent) {
	c, err := ownership.NewView(view, nil, 0, a.self.ID)
	if err != nil {
		a.t.Error(err)
		return
	}
	a.peers.views.Store(c)
}

// Each agent takes another one for stopped. All grant the leases of addresses by what was agreed on.
func TestQuorum_agentsAgreeOnThoseThatAreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		for i, a := range c.agents {
			a.turn.Lock()
			a.away = []string{c.agents[(i+1)%3].self.Instance()}
			a.turn.Unlock()
		}
		time.Sleep(20 * time.Second)
		var agreed []string
		for _, a := range c.agents {
			a.turn.Lock()
			if a.peers.quorum.agreed(a.Agents(), true); len(a.peers.expected) != 1 {
				t.Errorf("%s: %v are away", a.self.ID, a.peers.expected)
			}
			agreed = append(agreed, a.peers.expected...)
			a.turn.Unlock()
		}
		if len(slices.Compact(agreed)) != 1 {
			t.Errorf("the agents go by different ones: %v", agreed)
		}
		c.end()
	})
}

func (c *votingCluster) setCut(name string, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[name] = is
}

func (a *votingAgent) Self() string { return a.self.ID }

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
	return a.agents[i].peers.quorum.answer(ctx, a.self.ID, question[1:])
}

func (a *votingAgent) Changed() <-chan struct{}                            { return nil }
func (a *votingAgent) KnownAgents() []cluster.KnownAgent                   { return nil }
func (a *votingAgent) Lost() <-chan struct{}                               { return nil }
func (a *votingAgent) Err() error                                          { return nil }
func (a *votingAgent) Join(context.Context, uint64, cluster.Handler) error { return nil }
func (a *votingAgent) Leave(context.Context) error                         { return nil }
func (a *votingAgent) Send(context.Context, string, uint64, []byte) error  { return nil }

// Exchanges end that this agent may not go on with: those with a host that another agent owns now, at once, and all
// when no majority answers any more.
func TestQuorum_exchangesEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		time.Sleep(30 * time.Second) // by then no host is left alone any more
		a := c.agents[0]
		if !a.peers.quorum.holds() || a.peers.gate.Reason() != "" {
			t.Fatalf("it may not fetch: %q", a.peers.gate.Reason())
		}
		view := a.peers.views.Load()
		two, err := ownership.NewView(view.Agents[:2], nil, 0, "a0")
		if err != nil {
			t.Fatal(err)
		}
		a.turn.Lock() // so that the agent does not take its own view again meanwhile
		a.peers.views.Store(two)
		var kept, moved cluster.Exchange
		defer kept.Close()
		defer moved.Close()
		stays, goes := siteOf(view, two), siteOf(two, view)
		kept.Open(t.Context())
		moved.Open(t.Context())
		one, other := a.peers.BeginExchange(t.Context(), &kept, stays), a.peers.BeginExchange(t.Context(), &moved, goes)
		if one.Err() != nil || other.Err() != nil {
			t.Errorf("an exchange could not begin: %v, %v; not before %v, %v", one.Err(), other.Err(),
				a.peers.views.NotBefore(stays), a.peers.views.NotBefore(goes))
		}
		a.peers.views.Store(view)
		a.peers.quorum.acts()
		a.turn.Unlock()
		if one.Err() != nil || other.Err() == nil {
			t.Errorf("after the change: the one that stays %v, the one that goes %v", one.Err(), other.Err())
		}
		c.setCut("a0", true)
		time.Sleep(10*time.Second + 500*time.Millisecond) // the lease, and how late its end may be noticed
		moved.Open(t.Context())
		if late := a.peers.BeginExchange(t.Context(), &moved, stays); one.Err() == nil || late.Err() == nil {
			t.Errorf("without a majority: %v, %v", one.Err(), late.Err())
		}
		time.Sleep(2 * time.Second)
		const why = "fewer than a majority of the agents of this crawl answer: not a1, a2"
		r := a.peers.quorum.report(time.Now())
		if a.peers.gate.Reason() != why || r.Majority || r.Grounded != 2 || len(r.Agreed) != 3 {
			t.Errorf("%q, %+v", a.peers.gate.Reason(), r)
		}
		if r := c.agents[1].peers.quorum.report(time.Now()); !r.Majority {
			t.Errorf("the others: %+v", r)
		}
		c.end()
	})
}

// siteOf is a site that is this agent's in one circle. If the other is smaller, it is not in that one.
func siteOf(in, other *ownership.View) []byte {
	for i := 0; ; i++ {
		site := fmt.Appendf(nil, "http://h%d.test", i)
		if in.Owns(site) && (other.Owns(site) == (len(in.Agents) > len(other.Agents))) {
			return site
		}
	}
}

// An agent without a majority lends no address, since on the other side another agent does.
func TestQuorum_withoutAMajorityNothingIsLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		time.Sleep(20 * time.Second)
		a := c.agents[0].peers
		a.leases.UseView(a.views.Load(), nil, time.Now())
		lends := func() time.Duration { return time.Until(a.leases.GrantsFrom(addresslease.Addr{15: 1})) }
		if lends() > 0 {
			t.Fatalf("nothing is lent for another %v", lends())
		}
		c.setCut("a0", true)
		time.Sleep(10 * time.Second)
		if lends() <= 0 {
			t.Error("an agent that nobody answers lends an address")
		}
		c.setCut("a0", false)
		time.Sleep(10 * time.Second)
		if lends() > 0 {
			t.Errorf("nothing is lent for another %v", lends())
		}
		c.end()
	})
}

// An agent that may have missed a view leaves all hosts alone for a while: another agent may have had them.
func TestQuorum_aMissedView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startVoting(t, 3)
		time.Sleep(20 * time.Second)
		q := c.agents[0].peers.quorum
		c.agents[0].peers.views.Arrive(time.Time{})
		c.agents[0].stop()
		synctest.Wait()
		c.agents[0].turn.Lock()
		defer c.agents[0].turn.Unlock()
		q.index, q.count = q.index-1, q.count-2
		if _, ok := q.agreed(c.agents[0].Agents(), true); !ok {
			t.Fatal("no view")
		}
		if rest := time.Until(c.agents[0].peers.views.CautiousUntil()); rest < 22*time.Second {
			t.Errorf("hosts are left alone for %v", rest)
		}
		c.end()
	})
}

// What begins a crawl: as many as were said, or a majority of those who have begun it without a quorum.
func TestQuorum_whoMayBegin(t *testing.T) {
	peer := func(i int) ownership.Agent {
		return ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1, Store: uint64(i)}
	}
	all := []ownership.Agent{peer(1), peer(2), peer(3), peer(4)}
	p := &agent{views: ownership.NewTimeline(peerGrace)}
	q := &quorum{peers: p, least: 3}
	if q.mayBegin(all[:2]) || !q.mayBegin(all[:3]) {
		t.Error("of a new crawl")
	}
	c, err := ownership.NewView(all, nil, 0, "a1")
	if err != nil {
		t.Fatal(err)
	}
	p.views.Store(c)
	p.hasBegun.Store(true)
	if q.mayBegin(all[:2]) || !q.mayBegin(all[:3]) || q.mayBegin([]ownership.Agent{all[0], all[1], peer(7)}) {
		t.Error("of one that has begun")
	}
}

// An agent without --quorum is told of, and left alone for a while: it would ban who asks it again and again.
func TestQuorum_anAgentWithoutIt(t *testing.T) {
	asked := 0
	seam := &deafSeam{ask: func() ([]byte, error) {
		asked++
		return nil,
			fmt.Errorf("%w: not known", cluster.ErrMalformed)
	}}
	q := &quorum{peers: &agent{network: seam, log: slog.New(slog.DiscardHandler)}, deaf: map[string]time.Time{}}
	for range 5 {
		if _, err := q.ask(t.Context(), "a1/1", []byte("{}")); !errors.Is(err, cluster.ErrMalformed) {
			t.Error(err)
		}
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
}

type deafSeam struct {
	votingAgent
	ask func() ([]byte, error)
}

func (s *deafSeam) Ask(context.Context, string, []byte) ([]byte, error) { return s.ask() }

// A view is the agents as JSON.
func TestQuorum_aViewIsReadAsItWasWritten(t *testing.T) {
	want := []ownership.Agent{{ID: "a1", Capacity: 3, Store: 1 << 63}, {ID: "a2", Capacity: 1, Store: 7}}
	b, err := json.Marshal(want)
	var got []ownership.Agent
	if err != nil || json.Unmarshal(b, &got) != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %+v, %v", b, got, err)
	}
}
