package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/notify"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
	"orbweaver/warc"
)

// group is some agents that share a crawl, in one process and in virtual time. It is what membership and transport are
// to them: a change is known to all at once, and a message arrives at once.
type group struct {
	t  *testing.T
	mu sync.Mutex

	members map[string]*member // guarded by mu
}

// member is an agent of a group: the agent, and its network.
type member struct {
	*agent
	g       *group
	id      string
	changed chan struct{}
	sieve   *sieve.Sieve
	disk    *vfs.Mem
	cancel  context.CancelFunc
	loops   sync.WaitGroup

	known   cluster.KnownAgent // guarded by the group's mu
	handler cluster.Handler    // guarded by the group's mu: nil before Join
}

// errGone says that an agent does not answer.
var errGone = errors.New("it is not there")

// Self implements cluster.Network.
func (m *member) Self() string { return m.id }

// Agents implements cluster.Network.
func (m *member) Agents() (there []ownership.Agent) {
	for _, k := range m.KnownAgents() {
		if k.State == cluster.AgentAlive {
			there = append(there, k.Agent)
		}
	}
	return there
}

// KnownAgents implements cluster.Network. An agent that has not joined knows itself alone.
func (m *member) KnownAgents() (all []cluster.KnownAgent) {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	for id := range m.g.members {
		if other := m.g.members[id]; other == m || m.handler != nil && other.known.State != "" {
			all = append(all, other.known)
		}
	}
	if m.handler == nil {
		all[0].State = cluster.AgentAlive
	}
	slices.SortFunc(all, func(a, b cluster.KnownAgent) int { return int(a.ID[0]) - int(b.ID[0]) })
	return all
}

// Changed implements cluster.Network.
func (m *member) Changed() <-chan struct{} { return m.changed }

// Lost implements cluster.Network.
func (*member) Lost() <-chan struct{} { return nil }

// Err implements cluster.Network.
func (*member) Err() error { return nil }

// Join implements cluster.Network.
func (m *member) Join(_ context.Context, _ uint64, handler cluster.Handler) error {
	m.g.mu.Lock()
	m.handler = handler
	m.g.mu.Unlock()
	m.g.set(m.id, cluster.AgentAlive)
	return nil
}

// Leave implements cluster.Network.
func (m *member) Leave(context.Context) error { m.g.set(m.id, cluster.AgentLeft); return nil }

// Send implements cluster.Network.
func (m *member) Send(ctx context.Context, to string, _ uint64, message []byte) error {
	if h := m.g.handlerOf(to); h != nil {
		return h.HandleMessage(ctx, m.id, message)
	}
	return errGone
}

// Ask implements cluster.Network.
func (m *member) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	if h := m.g.handlerOf(to); h != nil {
		return h.HandleQuestion(ctx, m.id, question)
	}
	return nil, errGone
}

func (g *group) handlerOf(id string) cluster.Handler {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.members[id]; m != nil && m.known.State == cluster.AgentAlive {
		return m.handler
	}
	return nil
}

// set changes what membership says of an agent.
func (g *group) set(id string, state cluster.AgentState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members[id].known.State = state
	for _, m := range g.members {
		notify.Send(m.changed)
	}
}

// newMember makes an agent with a disk of its own, with or without the data that it had.
func (g *group) newMember(id string, store uint64, o Options) *member {
	g.t.Helper()
	m := &member{
		g:       g,
		id:      id,
		changed: make(chan struct{}, 1),
		disk:    vfs.NewMem(1),
		known:   cluster.KnownAgent{Agent: ownership.Agent{ID: id, Capacity: 1, Store: store}},
	}
	g.mu.Lock()
	g.members[id] = m
	g.mu.Unlock()
	log := slog.New(slog.DiscardHandler)
	made, err := openAgent(m, m.disk, "crawl", &manifest.Manifest{Store: store}, true,
		Storage{IndexMemory: 1 << 16, IndexBuffer: 1 << 12})
	if err != nil {
		g.t.Fatal(err)
	}
	m.agent = made
	s, err := sieve.Open(m.disk, sieve.Options{Dir: "sieve", BucketBytes: 1 << 16}, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	m.sieve = s
	scope, err := filter.CompileScope("all", new(filter.Seeds))
	if err != nil {
		g.t.Fatal(err)
	}
	hosts, done := new(settings.HostRules), newStore(g.t, m.disk)
	m.Connect(Parts{
		Options: o,
		FS:      m.disk,
		Dir:     "crawl",
		Journal: done,
		Frontier: &admission.Frontier{
			Rules:     admission.Rules{Scope: scope, MaxDepth: -1, MaxURL: urlx.LengthMax},
			Cache:     fpcache.New(1<<16, 1),
			Sieve:     s,
			Counters:  &done.Count,
			HostRules: hosts,
			Router:    made,
			Views:     made.Views(),
		},
		Sites:    &sites.Table{Rules: site.NewRulesPool(0)},
		Order:    perHost(store),
		Gate:     outage.NewGate(func() {}),
		Live:     settings.NewLive(politeness.Default(), hosts),
		InFlight: attempt.NewInFlight(),
		Dead:     new(schedule.DeadSites),
		Log:      log,
		Wake:     func() {},
		Lose:     func(err error) { g.t.Errorf("%s: %v", id, err) },
	})
	return m
}

// newStore makes a journal on a disk.
func newStore(t *testing.T, disk *vfs.Mem) *journal.Store {
	t.Helper()
	l := journal.NewStore()
	var err error
	if l.Writer, err = warc.OpenWriter(disk, warc.Options{Dir: "warc"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := disk.MkdirAll("frontier"); err != nil {
		t.Fatal(err)
	}
	file, err := journal.Create(disk, "frontier", 1)
	if err != nil {
		t.Fatal(err)
	}
	l.TurnTo(file)
	l.Disk = &outage.DiskGuard{
		Fs: disk, Gate: outage.NewGate(func() {}), Most: func() int64 { return 0 }, Warn: func(string, ...any) {},
	}
	return l
}

// start begins the crawl of an agent. stop ends it as a kill does.
func (m *member) start(resumed bool) {
	m.g.t.Helper()
	if err := m.Resume(new(manifest.Manifest), resumed); err != nil {
		m.g.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(m.g.t.Context())
	m.cancel = cancel
	m.Start(ctx, func(loop string, run func() error) {
		m.loops.Go(func() {
			if err := run(); err != nil {
				m.g.t.Errorf("%s, %s: %v", m.id, loop, err)
			}
		})
	})
	m.loops.Go(func() { // the group commit
		for ; ctx.Err() == nil; notify.Sleep(ctx, 100*time.Millisecond) {
			if err := m.parts.Journal.Sync(); err != nil {
				m.g.t.Error(err)
			}
		}
	})
}

func (m *member) stop() {
	m.cancel()
	m.loops.Wait()
}

// sharedBy makes and starts agents that begin a crawl together.
func sharedBy(t *testing.T, ids ...string) *group {
	t.Helper()
	g := &group{t: t, members: map[string]*member{}}
	for i, id := range ids {
		g.newMember(id, uint64(i+1), Options{Agents: len(ids), AgentAway: 10 * time.Minute, Recover: 3})
	}
	for _, id := range ids {
		g.members[id].start(false)
	}
	time.Sleep(10 * time.Second)
	return g
}

func (g *group) stopAll() {
	for _, m := range g.members {
		m.stop()
	}
}

// expectView checks the instances of the view of each of some agents.
func (g *group) expectView(when string, want []string, of ...string) {
	g.t.Helper()
	for _, id := range of {
		if got := ownership.AgentIDs(g.members[id].views.Load().Instances); !slices.Equal(got, want) {
			g.t.Errorf("%s: the view of %s has %v, want %v", when, id, got, want)
		}
	}
}

// linksTo are some URLs that an agent owns, by the view of another one.
func (m *member) linksTo(owner string, n int) (urls []string) {
	view := m.views.Load()
	for i := 0; len(urls) < n; i++ {
		url := fmt.Sprintf("http://h%d.test/", i)
		if view.Agents[view.OwnerOf([]byte(url))].ID == owner {
			urls = append(urls, url)
		}
	}
	return urls
}

// route gives URLs to the agents that own them.
func (m *member) route(urls []string) {
	for _, url := range urls {
		m.parts.Journal.Steps.Begin()
		m.Route(nil, &queued.URL{Rest: []byte(url)})
		m.parts.Journal.Steps.End()
	}
}

// backlog is how many items of an agent another one has not acknowledged.
func (m *member) backlog(to string) int {
	return m.files.outbox.Counts(m.g.members[to].self.Instance()).Backlog
}

// Agents that begin together have one view, and none is cautious: no host had another owner. An agent that joins later
// waits until it has asked the others, is in all views, and leaves its hosts alone for ten seconds.
func TestAgent_joins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b")
		g.expectView("two began", []string{"a", "b"}, "a", "b")
		a := g.members["a"]
		if !a.history.beganTogether.Load() || !a.parts.Gate.IsOpen() || !a.NotBefore([]byte(a.linksTo("a", 1)[0])).IsZero() {
			t.Errorf("together: %v, open: %v", a.history.beganTogether.Load(), a.parts.Gate.IsOpen())
		}
		c := g.newMember("c", 3, Options{Agents: 3, AgentAway: time.Minute})
		c.start(false)
		synctest.Wait()
		if at := c.NotBefore([]byte(c.linksTo("c", 1)[0])); time.Until(at) <= 0 {
			t.Errorf("the agent that has just come may visit its hosts at %v", at)
		}
		time.Sleep(hostGrace + time.Second)
		g.expectView("a third came", []string{"a", "b", "c"}, "a", "b", "c")
		if at := c.NotBefore([]byte(c.linksTo("c", 1)[0])); !at.IsZero() || !c.parts.Gate.IsOpen() {
			t.Errorf("it may visit its hosts at %v; open: %v", at, c.parts.Gate.IsOpen())
		}
		g.stopAll()
	})
}

// An agent waits for the others before it begins, and for no more than a few seconds for those that it knew.
func TestAgent_waitsForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &group{t: t, members: map[string]*member{}}
		a := g.newMember("a", 1, Options{Agents: 2})
		a.start(false)
		time.Sleep(time.Hour)
		if a.parts.Gate.IsOpen() {
			t.Error("the crawl began without the second agent")
		}
		g.newMember("b", 2, Options{Agents: 2}).start(false)
		time.Sleep(10 * time.Second)
		if !a.parts.Gate.IsOpen() || !g.members["b"].parts.Gate.IsOpen() {
			t.Error("the crawl did not begin")
		}
		g.stopAll()
	})
}

// What was sent to an agent that dies is sent to the owners of its hosts, all of it, and what waited for it, too. URLs
// that fall to this agent pass admission here.
func TestAgent_aPeerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b", "c")
		a := g.members["a"]
		urls := a.linksTo("c", 40)
		a.route(urls[:20])
		time.Sleep(10 * time.Second)
		if n := g.members["c"].sieve.Pending(); n != 20 || a.backlog("c") != 0 {
			t.Errorf("%d URLs arrived, %d wait", n, a.backlog("c"))
		}
		c := g.members["c"]
		g.set("c", cluster.AgentDead)
		c.stop()
		a.route(urls[20:])
		time.Sleep(10 * time.Second)
		g.expectView("c died", []string{"a", "b"}, "a", "b")
		own := len(slices.DeleteFunc(slices.Clone(urls), func(url string) bool { return !a.Owns([]byte(url)) }))
		at, there := a.sieve.Pending(), g.members["b"].sieve.Pending()
		if own == 0 || own == 40 || at != own || there != 40-own {
			t.Errorf("%d URLs are at a, %d at b; a owns %d of 40", at, there, own)
		}
		if slices.Contains(a.files.outbox.Agents(), c.self.Instance()) {
			t.Error("the queue of the dead agent is still there")
		}
		delete(g.members, "c")
		g.stopAll()
	})
}

// Messages are kept for an agent that stopped in order, and its hosts are its own. If it is back in time with its data,
// it gets them; if not, they go to the other owners.
func TestAgent_messagesAreKeptForAnAgentThatIsAway(t *testing.T) {
	for _, returns := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := sharedBy(t, "a", "b")
			a, b := g.members["a"], g.members["b"]
			if err := b.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.stop()
			urls := a.linksTo("b", 20)
			a.route(urls)
			time.Sleep(9 * time.Minute)
			g.expectView("b is away", []string{"a", "b"}, "a")
			if n := a.backlog("b"); n != 20 || a.sieve.Pending() != 0 {
				t.Errorf("%d URLs wait for b, %d are at a", n, a.sieve.Pending())
			}
			if returns {
				b = g.newMember("b", 2, Options{Agents: 2, AgentAway: 10 * time.Minute})
				b.start(false)
				time.Sleep(30 * time.Second)
				if n := b.sieve.Pending(); n != 20 || a.backlog("b") != 0 {
					t.Errorf("%d URLs are at b, which is back, %d wait", n, a.backlog("b"))
				}
				g.stopAll()
				return
			}
			time.Sleep(2 * time.Minute)
			g.expectView("b did not return", []string{"a"}, "a")
			if n := a.sieve.Pending(); n != 20 {
				t.Errorf("%d URLs are at a", n)
			}
			a.stop()
		})
	}
}

// An agent that announces that it leaves owns no hosts from then on. When it has nothing left, the others forget what
// they sent to it: that is not sent again when it is gone.
func TestAgent_leaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b", "c")
		a, c := g.members["a"], g.members["c"]
		a.route(a.linksTo("c", 20))
		time.Sleep(10 * time.Second)
		if err := c.MayLeave(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.agent.Leave()
		c.leaving.Announce()
		if all, err := c.leaving.Tell(t.Context(), leave.Announced); err != nil || !all {
			t.Errorf("it leaves: %v, %v", all, err)
		}
		time.Sleep(5 * time.Second)
		g.expectView("c leaves", []string{"a", "b"}, "a", "b", "c")
		if all, err := c.leaving.Tell(t.Context(), leave.Done); err != nil || !all {
			t.Errorf("it has nothing left: %v, %v", all, err)
		}
		g.set("c", cluster.AgentLeft)
		c.stop()
		time.Sleep(time.Minute)
		g.expectView("c has left", []string{"a", "b"}, "a", "b")
		if n := a.lost.resent.Load(); n != 0 || slices.Contains(a.files.outbox.Agents(), c.self.Instance()) {
			t.Errorf("%d URLs are sent again that c has given to the others", n)
		}
		if r := a.Report(new(counters.Totals)); len(r.Agents) != 3 || r.Agents[2].State != cluster.AgentLeft {
			t.Errorf("%+v", r.Agents)
		}
		delete(g.members, "c")
		g.stopAll()
	})
}

// The last agent that stays cannot leave, and an agent that does not answer keeps another one from leaving.
func TestAgent_mayNotLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b")
		a, b := g.members["a"], g.members["b"]
		g.mu.Lock()
		handler := b.handler
		b.handler = nil
		g.mu.Unlock()
		if err := a.MayLeave(t.Context()); !errors.Is(err, errGone) {
			t.Errorf("b does not answer: %v", err)
		}
		g.mu.Lock()
		b.handler = handler
		g.mu.Unlock()
		if err := a.MayLeave(t.Context()); err != nil {
			t.Error(err)
		}
		g.set("b", cluster.AgentDead)
		if err := a.MayLeave(t.Context()); !errors.Is(err, cluster.ErrNoAgentStays) {
			t.Errorf("no other agent is there: %v", err)
		}
		g.stopAll()
	})
}
