package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// seedCount is the number of seeds of a scenario of several agents: one in a reduced run.
func seedCount() int {
	if testbed.Reduced {
		return min(1, *testbed.SeedCount)
	}
	return *testbed.SeedCount
}

// eachSeed runs a scenario in virtual time, with each of several seeds from first on.
func eachSeed(t *testing.T, first uint64, scenario func(t *testing.T, i int, seed uint64)) {
	t.Helper()
	for i := range seedCount() {
		seed := *testbed.FirstSeed + first + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { scenario(t, i, seed) })
		})
	}
}

// testCluster is some agents that crawl one web together, each over a network of its own.
type testCluster struct {
	t      *testing.T
	rig    *testbed.Rig
	hub    *hub
	names  []string
	least  int // agents that begin the crawl
	quorum bool
	disks  map[string]*vfs.Mem
	change func(name string, c *engine.Config, s *engine.Seams) // changes an agent before it starts; nil for no change

	hostDelay, ipDelay time.Duration // 0 for those of the rig

	slowSync time.Duration // between two group commits; 0 for the usual time

	mu   sync.Mutex
	ends map[string]end // of the last run of each agent that has ended; guarded by mu
	wg   sync.WaitGroup
}

// end is how a run of an agent ended.
type end struct {
	report report.Report
	err    error
}

// final is the report at the end of an agent's last run.
func (b *testCluster) final(name string) report.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ends[name].report
}

// finalErr is the error of an agent's last run.
func (b *testCluster) finalErr(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ends[name].err
}

// forgive lets the last run of an agent have ended with any error.
func (b *testCluster) forgive(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.ends[name]; ok {
		b.ends[name] = end{report: e.report}
	}
}

func newTestCluster(t *testing.T, world simweb.Config, agents int) *testCluster {
	t.Helper()
	rig := testbed.MustRig(t, world, true)
	b := &testCluster{
		t: t, rig: rig, hub: newHub(), least: agents, disks: map[string]*vfs.Mem{}, ends: map[string]end{},
	}
	b.delayGossip(world.Seed, time.Second)
	for i := range agents {
		name := fmt.Sprintf("agent-%d", i)
		b.names = append(b.names, name)
		b.disks[name] = vfs.NewMem(uint64(i))
	}
	return b
}

// delayGossip lets each agent learn of changes of membership after a random time up to most.
func (b *testCluster) delayGossip(seed uint64, most time.Duration) {
	rng := rand.New(rand.NewPCG(seed, 9))
	b.hub.gossip = func() time.Duration { return time.Duration(rng.Int64N(int64(most))) }
}

// config is the configuration of an agent.
func (b *testCluster) config(name string) engine.Config {
	cfg := b.rig.Config()
	b.setDelays(&cfg)
	cfg.Cluster.Agents, cfg.Cluster.Invited = b.least, len(b.names) > 1
	cfg.Limits.StallWait = time.Hour
	cfg.Cluster.Quorum = b.quorum
	cfg.Fetch.UserAgent = "orbweaver/" + name + " (+https://example.org/bot)"
	cfg.Intervals.Sync = b.slowSync
	return cfg
}

// setDelays sets the delays that the agents keep.
func (b *testCluster) setDelays(cfg *engine.Config) {
	if b.hostDelay > 0 {
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = b.hostDelay, b.ipDelay
	}
}

// agent is a running agent.
type agent struct {
	testCluster *testCluster
	name        string
	net         *simnet.Net
	endpoint    *endpoint
	crawl       *engine.Engine
	// calls has capacity callers: one value while a goroutine calls crawl, all of them when it has ended. In virtual time
	// no goroutine may wait at a lock.
	calls chan struct{}
	stop  context.CancelFunc
	done  chan struct{}
}

// callers is how many goroutines may call the engine of an agent at a time.
const callers = 8

// start lets an agent crawl until it ends or ctx does.
func (b *testCluster) start(ctx context.Context, name string) *agent {
	b.t.Helper()
	a := &agent{
		testCluster: b, name: name, net: b.rig.NewNet(), endpoint: b.hub.newEndpoint(name, 1),
		calls: make(chan struct{}, callers), done: make(chan struct{}),
	}
	seams := b.rig.Seams(b.disks[name])
	seams.Dialer, seams.Peering = a.net, a.endpoint
	seams.Log = slog.New(slog.NewTextHandler(io.MultiWriter(b.t.Output(), endNoter{b.hub}), nil)).With("agent", name)
	cfg := b.config(name)
	if b.change != nil {
		b.change(name, &cfg, &seams)
	}
	e, err := engine.Open(cfg, seams)
	if err != nil {
		b.t.Fatal(err)
	}
	a.crawl = e
	ctx, a.stop = context.WithCancel(ctx)
	b.wg.Go(func() {
		defer close(a.done)
		defer a.stop()
		err := e.Run(ctx)
		report := e.Report()
		for range callers {
			a.calls <- struct{}{}
		}
		err = errors.Join(err, e.Close(), a.net.Close())
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ends[name] = end{report, err}
	})
	return a
}

// startAll starts agents by their names.
func (b *testCluster) startAll(names []string) map[string]*agent {
	b.t.Helper()
	running := map[string]*agent{}
	for _, name := range names {
		running[name] = b.start(b.t.Context(), name)
	}
	return running
}

// mustLeave lets the agent leave permanently, and fails the test if it may not.
func (a *agent) mustLeave(t *testing.T) {
	t.Helper()
	if err := a.leave(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// leave lets the agent leave permanently.
func (a *agent) leave(ctx context.Context) error {
	select {
	case a.calls <- struct{}{}:
	case <-a.done:
		return errors.New("the agent has ended")
	}
	defer func() { <-a.calls }()
	return a.crawl.Operator().Leave(ctx)
}

// report is the report of the agent now, or at its end.
func (a *agent) report() report.Report {
	select {
	case a.calls <- struct{}{}:
	case <-a.done:
		return a.testCluster.final(a.name)
	}
	defer func() { <-a.calls }()
	return a.crawl.Report()
}

// kill ends an agent, unless it has ended, and leaves the disk as death does. The others still count it as a member.
func (a *agent) kill(death testbed.Death) {
	b := a.testCluster
	b.t.Helper()
	b.disks[a.name] = death(b.disks[a.name])
	b.hub.stopAnswering(a.endpoint)
	if err := a.net.Close(); err != nil {
		b.t.Error(err)
	}
	a.stop()
	<-a.done // its error does not matter
}

// wait returns when all agents have ended.
func (b *testCluster) wait() {
	b.t.Helper()
	b.wg.Wait()
	for name, end := range b.ends {
		if end.err != nil {
			b.t.Errorf("%s: %v", name, end.err)
		}
	}
}

// judge compares the log of the web and all archives with the ground truth.
func (b *testCluster) judge() judge.Verdict {
	b.t.Helper()
	var all []judge.Capture
	for _, name := range b.names {
		err := captures.Each(b.disks[name], "crawl/warc", func(c judge.Capture) { all = append(all, c) })
		if err != nil {
			b.t.Fatal(err)
		}
	}
	cfg := b.rig.Config()
	b.setDelays(&cfg)
	p := testbed.Promise(cfg)
	p.Expect.Seeds = b.rig.Seeds
	return b.rig.World.Judge(b.rig.Log, p, func(yield func(judge.Capture) bool) {
		for _, c := range all {
			if !yield(c) {
				return
			}
		}
	})
}

// wantWhole fails the test unless every page was fetched, at most some were fetched again, and all delays were kept.
func wantWhole(t *testing.T, v judge.Verdict, repeated int) {
	t.Helper()
	if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || v.Repeated > repeated || impolite(v) {
		testbed.FailVerdict(t, v)
	}
}

// wantLeft fails the test unless an agent has left and nothing of it is left behind. It returns the agent's report.
func (b *testCluster) wantLeft(name string) report.Report {
	b.t.Helper()
	r := b.final(name)
	const reason = "left permanently: the other agents have everything"
	if r.State != lifecycle.Finished || r.Reason != reason || r.URLsQueued != 0 || r.Cluster.URLsWaiting != 0 {
		b.t.Errorf(
			"%s: %s (%s), %d URLs queued, %d URLs waiting", name, r.State, r.Reason, r.URLsQueued, r.Cluster.URLsWaiting,
		)
	}
	return r
}

// impolite says that a host or an address was asked too early, or by two at a time.
func impolite(v judge.Verdict) bool {
	return v.HostGapViolations+v.HostConcurrency+v.IPGapViolations+v.IPConcurrency > 0
}

// loseAgent kills an agent, lets the others find out some time later, and returns how many pages it had.
func (b *testCluster) loseAgent(a *agent) (had int) {
	b.t.Helper()
	a.kill(testbed.Sigkill)
	had = b.pages(a.name)
	time.Sleep(8 * time.Second)
	b.hub.remove(a.endpoint)
	return had
}

// pages is the number of captures in the archive of an agent.
func (b *testCluster) pages(name string) (n int) {
	b.t.Helper()
	err := captures.Each(b.disks[name], "crawl/warc", func(judge.Capture) { n++ })
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// An agent whose name another process has stops in order, and its report has the reason. Its directory is sound, and
// its next run continues the crawl.
func TestG04_anAgentWithoutItsNameStopsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+720, simweb.Plain()), 2)
		running := b.startAll(b.names)
		time.Sleep(20 * time.Second)
		lost := b.names[1]
		b.hub.takeID(lost)
		<-running[lost].done
		r, err := b.final(lost), b.finalErr(lost)
		if !errors.Is(err, cluster.ErrLost) || !errors.Is(err, errName) || r.State != lifecycle.Stopped {
			t.Errorf("%v; %s (%s)", err, r.State, r.Reason)
		}
		if r.PagesStored == 0 || r.URLsQueued == 0 || r.URLsInFlight != 0 {
			t.Errorf("%d pages, %d queued, %d in flight", r.PagesStored, r.URLsQueued, r.URLsInFlight)
		}
		testbed.CheckConservation(t, r)
		b.forgive(lost)
		b.start(t.Context(), lost)
		b.wait()
		if again := b.final(lost); again.State != lifecycle.Finished || again.PagesStored < r.PagesStored {
			t.Errorf("the next run: %s (%s) after %d pages", again.State, again.Reason, again.PagesStored)
		}
		if v := b.judge(); impolite(v) || v.Coverage != 1 {
			testbed.FailVerdict(t, v)
		}
	})
}
