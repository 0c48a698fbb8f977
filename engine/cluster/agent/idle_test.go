package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quota"
	"orbweaver/engine/journal"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outage"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
)

// willing is for how long the villagers wait for a retry that draws near.
const willing = 20 * time.Second

// village is some agents that crawl only in their minds: each has tasks for certain moments, and nothing to do while
// the next is further off than it is willing to wait.
type village struct {
	t      *testing.T
	agents int
	mu     sync.Mutex
	here   map[string]*villager
	left   []cluster.KnownAgent
}

// villager is one of them, its seam, and what its distributor sees.
type villager struct {
	*village
	cluster.Network
	self  ownership.Agent
	peers *agent
	tasks []time.Time
	fresh bool         // it has just started again
	cut   [2]time.Time // nobody reaches it, and it nobody, from then to then
	wake  chan struct{}
}

func (v *villager) Self() string { return v.self.ID }

func (v *villager) KnownAgents() []cluster.KnownAgent {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.left)
}

func (v *villager) Agents() (all []ownership.Agent) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.here {
		all = append(all, one.self)
	}
	return all
}

// isBehind says that it may not have heard yet what the others know.
func (v *villager) isBehind() bool {
	return v.fresh || !time.Now().Before(v.cut[0]) && time.Now().Before(v.cut[1].Add(calmPeriodMost+calmPeriod))
}

func (v *villager) isCut() bool { return !time.Now().Before(v.cut[0]) && time.Now().Before(v.cut[1]) }

func (v *villager) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	time.Sleep(2 * time.Millisecond)
	v.mu.Lock()
	other := v.here[to]
	v.mu.Unlock()
	if other == nil || other.isCut() || v.isCut() {
		return nil, errors.New("nobody there")
	}
	return other.peers.HandleQuestion(ctx, v.self.ID, question)
}

func newVillager(v *village, all []ownership.Agent, i int, tasks []time.Time) *villager {
	box, err := outbox.Open(vfs.NewMem(1), outbox.Options{Dir: "outbox"}, nil, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	one := &villager{village: v, self: all[i], tasks: tasks, wake: make(chan struct{}, 1)}
	say := slog.New(slog.DiscardHandler)
	one.peers = &agent{
		network: one, outbox: box, journal: new(journal.Store),
		log: say, wake: func() { notify.Send(one.wake) },
		becameIdle: make(chan struct{}, 1), endFound: make(chan struct{}, 1),
		ended: make(chan struct{}), views: ownership.NewTimeline(peerGrace), gate: outage.NewGate(func() {}),
		restartWait: 10 * time.Minute, accounts: quota.NewAccounts(0, func() int64 { return 0 }, func() {}, say),
	}
	one.peers.idleAt.Store(-1)
	one.peers.journal.Count.Attempts.Store(1) // they have had a part in it
	c, err := ownership.NewView(all, all, 0, one.self.ID)
	if err != nil {
		v.t.Fatal(err)
	}
	one.peers.views.Store(c)
	return one
}

// distribute does the tasks in their time, until the crawl is over, as a distributor does.
func (v *villager) distribute(ctx context.Context) {
	for {
		if v.peers.gate.WaitUnless(ctx, v.peers.ended) != nil {
			return
		}
		count, wait, over := v.peers.StepCount(), time.Second, lifecycle.ReasonStalled
		if len(v.tasks) > 0 {
			soon := time.Until(v.tasks[0])
			if soon <= 0 {
				v.tasks = v.tasks[1:]
				v.peers.counters.steps.Add(1)
				if v.isOver() && !v.isBehind() {
					v.t.Errorf("%s has something to do, and somebody has found that the crawl is over", v.self.ID)
				}
				continue
			}
			if soon <= willing {
				wait, over = min(wait, soon), ""
			}
		}
		wait, _ = v.peers.NegotiateEnd(wait, over, false, count)
		select {
		case <-v.wake:
		case <-time.After(wait):
		case <-v.peers.ended:
			return
		}
	}
}

// isOver says that somebody has gone, or is about to.
func (v *village) isOver() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.here {
		if one.peers.over.Load() {
			return true
		}
	}
	return len(v.here) < v.agents
}

// live is the villager's whole time in the village.
func (v *villager) live(ctx context.Context) {
	var loops sync.WaitGroup
	defer loops.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	loops.Go(func() {
		if err := v.peers.settle(ctx); err != nil {
			v.t.Error(err)
		}
	})
	v.distribute(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.here, v.self.ID)
	v.left = append(v.left, cluster.KnownAgent{Agent: v.self, State: cluster.AgentLeft})
}

// Agents that have nothing to do at one moment end together, wherever that moment falls between the retries of any of
// them, and if just then one cannot be reached; and until there is one nobody ends.
func TestCalm_allEndOrNobodyDoes(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			v := &village{t: t, here: map[string]*villager{}}
			var all []ownership.Agent
			for i := range 2 + rng.IntN(3) {
				all = append(all, ownership.Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1, Store: uint64(i)})
			}
			v.agents = len(all)
			began, last := time.Now(), time.Now()
			for i := range all {
				var tasks []time.Time
				for range rng.IntN(6) {
					tasks = append(tasks, began.Add(time.Duration(rng.Int64N(int64(3*time.Minute)))))
				}
				if rng.IntN(2) == 0 { // one draws near just as the others have done all of theirs
					tasks = append(tasks, last.Add(willing+time.Duration(rng.Int64N(int64(20*time.Millisecond)))))
				}
				slices.SortFunc(tasks, time.Time.Compare)
				if n := len(tasks); n > 0 && tasks[n-1].After(last) {
					last = tasks[n-1]
				}
				one := newVillager(v, all, i, tasks)
				if rng.IntN(2) == 0 {
					one.cut[0] = began.Add(time.Duration(rng.Int64N(int64(4 * time.Minute))))
					one.cut[1] = one.cut[0].Add(time.Duration(rng.Int64N(int64(4 * time.Minute))))
				}
				if one.cut[1].After(last) {
					last = one.cut[1]
				}
				v.here[all[i].ID] = one
			}
			var wg sync.WaitGroup
			for _, one := range slices.Collect(maps.Values(v.here)) {
				wg.Go(func() { one.live(t.Context()) })
			}
			wg.Wait()
			if late := time.Since(last); late > calmPeriodMost+2*calmPeriod {
				t.Errorf("seed %d: the last one ends %v after the last task of all, and when all could reach each other", seed, late)
			}
		})
	}
}

// An agent that was killed when the others found out that the crawl is over, and started again, may have lost what it
// had: it ends when it has nothing to do, and not before.
func TestCalm_whoHasStartedAgainIsNotToldButAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &village{t: t, here: map[string]*villager{}, agents: 2}
		all := []ownership.Agent{{ID: "a0", Capacity: 1, Store: 1}, {ID: "a1", Capacity: 1, Store: 2}}
		var tasks []time.Time
		for k := range 10 {
			tasks = append(tasks, time.Now().Add(time.Duration(k)*5*time.Second))
		}
		found, again := newVillager(v, all, 0, nil), newVillager(v, all, 1, tasks)
		v.here["a0"], v.here["a1"], again.fresh = found, again, true
		notify.Send(found.peers.endFound) // by the one that the other was before
		var wg sync.WaitGroup
		began := time.Now()
		for _, one := range []*villager{found, again} {
			wg.Go(func() { one.live(t.Context()) })
		}
		time.Sleep(45*time.Second + time.Millisecond)
		if left := int64(len(tasks)) - again.peers.counters.steps.Load(); left > 0 || !found.peers.over.Load() ||
			again.peers.over.Load() {
			t.Errorf("%d tasks are left; over: %v, %v", left, found.peers.over.Load(), again.peers.over.Load())
		}
		wg.Wait()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
