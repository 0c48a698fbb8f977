package termination

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/invariants"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
)

// retryWait is for how long a member waits for a retry that is due.
const retryWait = 20 * time.Second

// simulation is a crawl of some agents that have no web: each has tasks that are due at certain times, and is idle
// while the next one is due later than retryWait.
type simulation struct {
	t       *testing.T
	agents  int
	mu      sync.Mutex
	members map[string]*member   // guarded by mu: those that are there
	left    []cluster.KnownAgent // guarded by mu
}

// member is an agent: its network, and what its distributor sees.
type member struct {
	*simulation
	self        ownership.Agent
	detector    *Detector
	gate        *outage.Gate
	steps       atomic.Int64
	tasks       []time.Time
	hasRestart  bool // it has just started again
	unreachable [2]time.Time
	wake        chan struct{}
}

func (m *member) Self() string { return m.self.ID }

func (m *member) KnownAgents() []cluster.KnownAgent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.left)
}

func (m *member) Agents() (all []ownership.Agent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.members {
		all = append(all, other.self)
	}
	return all
}

// isBehind says that it may not have heard yet what the others know.
func (m *member) isBehind() bool {
	return m.hasRestart || !time.Now().Before(m.unreachable[0]) &&
		time.Now().Before(m.unreachable[1].Add(periodMax+period))
}

func (m *member) isUnreachable() bool {
	return !time.Now().Before(m.unreachable[0]) && time.Now().Before(m.unreachable[1])
}

func (m *member) Ask(_ context.Context, to string, question []byte) ([]byte, error) {
	time.Sleep(2 * time.Millisecond)
	m.mu.Lock()
	other := m.members[to]
	m.mu.Unlock()
	if other == nil || other.isUnreachable() || m.isUnreachable() {
		return nil, errors.New("no answer")
	}
	return other.detector.Answer(m.self.ID, question)
}

func newMember(s *simulation, all []ownership.Agent, i int, tasks []time.Time) *member {
	s.t.Helper()
	box, err := outbox.Open(vfs.NewMem(1), outbox.Options{Dir: "outbox"}, nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	m := &member{
		simulation: s, self: all[i], tasks: tasks, wake: make(chan struct{}, 1), gate: outage.NewGate(func() {}),
	}
	v, err := ownership.NewView(ownership.Consistent, all, all, 0, m.self.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	views := ownership.NewTimeline(10 * time.Second)
	views.Store(v)
	count := new(counters.Live)
	count.Attempts.Store(1) // it has had a part in the crawl
	m.detector = New(Options{
		Network: m, Views: views, Outbox: box, Counters: count, Gate: m.gate, Log: slog.New(slog.DiscardHandler),
		RestartWait: 10 * time.Minute, Steps: &m.steps, Banned: func() []ownership.Agent { return nil },
		IsBanned: func(string) bool { return false }, IsLeaving: func() bool { return false },
		HasAnnounced: func(string) bool { return false }, Founding: func() (uint64, int64) { return 1, 1 },
		Forgive: func() {}, Wake: func() { notify.Send(m.wake) }, Conclude: func(context.Context) {},
	})
	return m
}

// distribute does the tasks when they are due, until the crawl has ended, as a distributor does.
func (m *member) distribute(ctx context.Context) {
	for {
		if m.gate.WaitUnless(ctx, m.detector.Ended()) != nil {
			return
		}
		steps, wait, reason := m.detector.StepCount(), time.Second, lifecycle.ReasonStalled
		if len(m.tasks) > 0 {
			left := time.Until(m.tasks[0])
			if left <= 0 {
				m.tasks = m.tasks[1:]
				m.steps.Add(1)
				if m.hasEnded() && !m.isBehind() {
					m.t.Errorf("%s has something to do, and an agent has found that the crawl has ended", m.self.ID)
				}
				continue
			}
			if left <= retryWait {
				wait, reason = min(wait, left), ""
			}
		}
		wait, _ = m.detector.NegotiateEnd(wait, reason, false, steps)
		select {
		case <-m.wake:
		case <-time.After(wait):
		case <-m.detector.Ended():
			return
		}
	}
}

// hasEnded says that a member has gone, or is about to.
func (s *simulation) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.members {
		if m.detector.HasEnded() {
			return true
		}
	}
	return len(s.members) < s.agents
}

// run is the whole life of a member.
func (m *member) run(ctx context.Context) {
	var loops sync.WaitGroup
	defer loops.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	loops.Go(func() { m.detector.Run(ctx) })
	m.distribute(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.members, m.self.ID)
	m.left = append(m.left, cluster.KnownAgent{Agent: m.self, State: cluster.AgentLeft})
}

// TD1, TD2: agents that are idle at one moment end together, wherever that moment falls between the retries of any of
// them, and also if one cannot be reached just then. Until there is such a moment none ends.
func TestDetector_allEndOrNoneDoes(t *testing.T) {
	seeds := uint64(300)
	if invariants.Race {
		seeds = 50
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			s := &simulation{t: t, members: map[string]*member{}}
			var all []ownership.Agent
			for i := range 2 + rng.IntN(3) {
				all = append(all, ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1, Store: uint64(i)})
			}
			s.agents = len(all)
			began, last := time.Now(), time.Now()
			for i := range all {
				var tasks []time.Time
				for range rng.IntN(6) {
					tasks = append(tasks, began.Add(time.Duration(rng.Int64N(int64(3*time.Minute)))))
				}
				if rng.IntN(2) == 0 { // a retry is nearly due when the others have done all of theirs
					tasks = append(tasks, last.Add(retryWait+time.Duration(rng.Int64N(int64(20*time.Millisecond)))))
				}
				slices.SortFunc(tasks, time.Time.Compare)
				if n := len(tasks); n > 0 && tasks[n-1].After(last) {
					last = tasks[n-1]
				}
				m := newMember(s, all, i, tasks)
				if rng.IntN(2) == 0 {
					m.unreachable[0] = began.Add(time.Duration(rng.Int64N(int64(4 * time.Minute))))
					m.unreachable[1] = m.unreachable[0].Add(time.Duration(rng.Int64N(int64(4 * time.Minute))))
				}
				if m.unreachable[1].After(last) {
					last = m.unreachable[1]
				}
				s.members[all[i].ID] = m
			}
			var wg sync.WaitGroup
			for _, m := range slices.Collect(maps.Values(s.members)) {
				wg.Go(func() { m.run(t.Context()) })
			}
			wg.Wait()
			if late := time.Since(last); late > periodMax+2*period {
				t.Errorf("seed %d: the last agent ends %v after the last task, with all reachable", seed, late)
			}
		})
	}
}

// An agent that was killed when the others found out that the crawl had ended, and started again, may have lost what it
// had: it ends when it is idle, and not before.
func TestDetector_anAgentThatStartedAgainEndsWhenItIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{t: t, members: map[string]*member{}, agents: 2}
		all := []ownership.Agent{{ID: "a0", Capacity: 1, Store: 1}, {ID: "a1", Capacity: 1, Store: 2}}
		var tasks []time.Time
		for k := range 10 {
			tasks = append(tasks, time.Now().Add(time.Duration(k)*5*time.Second))
		}
		found, again := newMember(s, all, 0, nil), newMember(s, all, 1, tasks)
		s.members["a0"], s.members["a1"], again.hasRestart = found, again, true
		notify.Send(found.detector.endFound) // told by the other agent, before it was killed
		var wg sync.WaitGroup
		began := time.Now()
		for _, m := range []*member{found, again} {
			wg.Go(func() { m.run(t.Context()) })
		}
		time.Sleep(45*time.Second + time.Millisecond)
		if left := int64(len(tasks)) - again.steps.Load(); left > 0 || !found.detector.HasEnded() ||
			again.detector.HasEnded() {
			t.Errorf("%d tasks are left; ended: %v, %v", left, found.detector.HasEnded(), again.detector.HasEnded())
		}
		wg.Wait()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// An idle agent believes a member of the same view that the crawl has ended. A banned agent is not believed. An agent
// that had no part in the crawl ends at once.
func TestDetector_onlyMembersOfTheViewAreBelieved(t *testing.T) {
	all := []ownership.Agent{{ID: "a0", Capacity: 1, Store: 1}, {ID: "a1", Capacity: 1, Store: 2}}
	ended := func(agents uint64) []byte {
		q := []byte{'O', 0, 0, 0, 0, 0, 0, 0, 0}
		for i := range 8 {
			q[8-i] = byte(agents >> (8 * i))
		}
		return q
	}
	for name, c := range map[string]struct {
		agents                    uint64
		wasIdle, banned, newcomer bool
		believes, isLate          bool
	}{
		"of the same members":                {agents: ownership.Hash(all), wasIdle: true, believes: true},
		"of others":                          {agents: 1, wasIdle: true},
		"of the same, while it works":        {agents: ownership.Hash(all)},
		"of a banned agent":                  {agents: ownership.Hash(all), wasIdle: true, banned: true},
		"told to an agent that had no part":  {agents: 1, newcomer: true, believes: true, isLate: true},
		"a banned one, to such an agent too": {agents: 1, newcomer: true, banned: true},
	} {
		m := newMember(&simulation{t: t}, all, 0, nil)
		m.detector.o.IsBanned = func(string) bool { return c.banned }
		m.detector.wasIdle.Store(c.wasIdle)
		if c.newcomer {
			m.detector.o.Counters.Attempts.Store(0)
		}
		if _, err := m.detector.Answer("a1", ended(c.agents)); err != nil {
			t.Fatal(err)
		}
		if believes := len(m.detector.endFound) == 1; believes != c.believes ||
			c.isLate != (m.detector.EndReason() == lifecycle.ReasonLate) {
			t.Errorf("%s: believes %v, ends as %q", name, believes, m.detector.EndReason())
		}
	}
}

// scriptedNetwork is the network to one other agent, which gives prepared answers.
type scriptedNetwork struct {
	*member
	answers []Status
}

func (n *scriptedNetwork) Agents() []ownership.Agent {
	return []ownership.Agent{{ID: "a0", Capacity: 1, Store: 1}, {ID: "a1", Capacity: 1, Store: 2}}
}

func (n *scriptedNetwork) Ask(context.Context, string, []byte) ([]byte, error) {
	if len(n.answers) == 0 {
		return nil, errors.New("no answer")
	}
	s := n.answers[0]
	n.answers = n.answers[1:]
	return json.Marshal(s)
}

// TD1: an agent finds that all are idle if all say so in two waves, have the same members in mind and have counted
// nothing in between; and if it is idle itself, with no message that waits.
func TestDetector_twoWavesMustAgree(t *testing.T) {
	all := new(scriptedNetwork).Agents()
	idle := Status{IsIdle: true, Steps: 5, View: ownership.Hash(all), All: ownership.Hash(all)}
	but := func(change func(s *Status)) Status {
		s := idle
		change(&s)
		return s
	}
	none := func(*member) {}
	for name, c := range map[string]struct {
		first, second Status
		change        func(m *member)
		want          bool
	}{
		"idle all the while":       {idle, idle, none, true},
		"a step between the waves": {idle, but(func(s *Status) { s.Steps++ }), none, false},
		"busy in the second wave":  {idle, but(func(s *Status) { s.IsIdle = false }), none, false},
		"busy in the first wave":   {but(func(s *Status) { s.IsIdle = false }), idle, none, false},
		"other members":            {but(func(s *Status) { s.View, s.All = 1, 1 }), idle, none, false},
		"it knows of the end":      {but(func(s *Status) { s.HasEnded = true }), Status{}, none, true},
		"a message waits here": {idle, idle, func(m *member) {
			m.detector.o.Outbox.Put(all[1].Instance(), []byte("x"))
		}, false},
		"a step here since": {idle, idle, func(m *member) { m.steps.Add(1) }, false},
		"this agent leaves": {idle, idle, func(m *member) {
			m.detector.o.IsLeaving = func() bool { return true }
		}, false},
		"the other one has left": {idle, idle, func(m *member) {
			m.detector.o.HasAnnounced = func(string) bool { return true }
		}, false},
		"something to do here": {idle, idle, func(m *member) { m.detector.NegotiateEnd(0, "", false, 0) }, false},
		"an item in the workbench": {idle, idle, func(m *member) {
			m.detector.NegotiateEnd(0, lifecycle.ReasonComplete, true, 0)
		}, false},
	} {
		m := newMember(&simulation{t: t}, all, 0, nil)
		m.detector.o.Network = &scriptedNetwork{m, []Status{c.first, c.second}}
		if _, err := m.detector.o.Outbox.EnsureAgent(all[1].Instance()); err != nil {
			t.Fatal(err)
		}
		m.detector.NegotiateEnd(time.Second, lifecycle.ReasonComplete, false, m.detector.StepCount())
		c.change(m)
		if got := m.detector.areAllIdle(t.Context()); got != c.want {
			t.Errorf("%s: all idle %v, want %v", name, got, c.want)
		}
	}
}

// TD2: an agent that knows of the end stays until the others know it: it tells them again and again, and waits for the
// restart of one that cannot be reached.
func TestDetector_staysUntilTheOthersKnow(t *testing.T) {
	all := new(scriptedNetwork).Agents()
	v := ownership.Hash(all)
	behind, aware := Status{View: v}, Status{View: v, HasEnded: true}
	concludes := Status{View: v, HasEnded: true, Concludes: true}
	for name, c := range map[string]struct {
		answers []Status
		want    time.Duration
	}{
		"the other one knows":          {[]Status{aware}, stayMin},
		"the other one is behind":      {slices.Repeat([]Status{behind}, 40), 10 * time.Minute},
		"it knows a while later":       {append(slices.Repeat([]Status{behind}, 40), aware), 10 * time.Second},
		"it does its last work":        {append(slices.Repeat([]Status{concludes}, 80), aware), 20 * time.Second},
		"it has other members in mind": {slices.Repeat([]Status{{View: 1}}, 1000), patience},
		"it cannot be reached":         {nil, 10 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMember(&simulation{t: t}, all, 0, nil)
			m.detector.o.Network = &scriptedNetwork{m, c.answers}
			began := time.Now()
			m.detector.tellOthers(t.Context())
			if took := time.Since(began); took < c.want || took > c.want+patience+time.Second {
				t.Errorf("%s: it stays for %v, want %v", name, took, c.want)
			}
		})
	}
}
