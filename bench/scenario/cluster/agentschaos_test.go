//go:build scenario

package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// chaos is a crawl of some agents with random events.
type chaos struct {
	*testCluster
	faultKinds
	rng     *rand.Rand
	running map[string]*agent
	plan    []plannedEvent  // in the order of their times
	absent  map[string]bool // killed or stopped, and will restart
	ended   map[string]bool // will never restart
	leaving map[string]bool // were asked to leave permanently
	lost    map[string]bool // the archive is lost, too
	repeats int             // pages that may be fetched again
	awayMax time.Duration   // how long the others wait for an agent that stopped
	events  int
	// hadPartition says that there was a partition; isPartitioned that there is one now.
	hadPartition, isPartitioned bool
}

type plannedEvent struct {
	at time.Time
	do func()
}

// chaosLimit is more virtual time than any of these crawls needs.
const chaosLimit = 3 * time.Hour

// noRepeatLimit is a number of repeated pages that no crawl reaches.
const noRepeatLimit = 1 << 30

// chaosCases are the kinds of faults of the random crawls, which take turns.
var chaosCases = []struct {
	name string
	faultKinds
}{
	{"everything, quorum", faultKinds{kills: true, losses: true, stops: true, late: true, leaves: true, messages: true,
		partitions: true, withQuorum: true}},
	{"all but partitions", faultKinds{kills: true, losses: true, stops: true, late: true, leaves: true, messages: true}},
	{"partitions, kills, quorum", faultKinds{kills: true, stops: true, partitions: true, withQuorum: true}},
	{"churn", faultKinds{kills: true, stops: true, late: true, leaves: true}},
	{"everything", faultKinds{kills: true, losses: true, stops: true, late: true, leaves: true, messages: true,
		partitions: true}},
	{"churn, quorum", faultKinds{kills: true, stops: true, late: true, leaves: true, withQuorum: true}},
	{"losses, quorum", faultKinds{losses: true, messages: true, withQuorum: true}},
	{"leaves, quorum", faultKinds{leaves: true, late: true, messages: true, withQuorum: true}},
	{"partitions", faultKinds{partitions: true, messages: true}},
}

// Random events in crawls of some agents: a few seeds in each run of the test, any number with -worlds. The judge reads
// the log of the web.
func TestAgents_chaos(t *testing.T) {
	for i := range seedCount() {
		c := &chaosCases[i%len(chaosCases)]
		seed := *testbed.FirstSeed + 2000 + uint64(i)
		t.Run(fmt.Sprintf("%s, seed %d", c.name, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newChaos(t, seed, c.faultKinds).run() })
		})
	}
}

// chaosSettings are settings of all agents with which a crawl still fetches the whole web. One of a row may be drawn.
var chaosSettings = [][]string{
	{"visit=per-host:2", "visit=bottom-up", "visit=ranked", "visit=focused score=1"},
	{"requisites=off", "requisites=same-scope"},
	{"near-duplicates=mark"},
	{"dedup-agents=100", "dedup-agents=4096"},
	{"warc-via", "warc-via warc-outlinks", "warc-metadata=none"},
	{"novelty=off", "trap-floor=1"},
	{"cookies=site"},
	{"bandwidth=100000", "host-bandwidth=20000"},
	{"assign=rendezvous"},
	{"fetchers=1", "fetchers=200"},
}

// drawSettings draws settings.
func drawSettings(rng *rand.Rand) (settings []string) {
	for _, row := range chaosSettings {
		if rng.IntN(4) == 0 {
			settings = append(settings, strings.Fields(row[rng.IntN(len(row))])...)
		}
	}
	return settings
}

// newChaos makes agents, a web and settings by a seed.
func newChaos(t *testing.T, seed uint64, p faultKinds) *chaos {
	rng := rand.New(rand.NewPCG(seed, 11))
	kind := simweb.Plain()
	if rng.IntN(2) == 0 {
		kind = simweb.Faulty()
		kind.Timing.Stall = 30 * time.Second
	}
	world := testbed.SmallWorld(seed, kind)
	world.IPs = []int{3, 7, 24}[rng.IntN(3)]
	switch rng.IntN(3) {
	case 0: // answers take some seconds
		world.Think = time.Duration(1+rng.IntN(3)) * time.Second
	case 1: // many hosts, which do not fit into memory
		world = testbed.ManyHosts(seed, kind)
		world.Hosts, world.PagesPerHostMean, world.PagesPerHostMax = 100, 3, 9
		world.Timing.CrawlDelay = time.Duration(rng.IntN(5)) * time.Second // a failed agent may have known longer ones
		world.IPs = []int{20, 50, 150}[rng.IntN(3)]
	}
	if rng.IntN(3) == 0 {
		world.Robots.AllowAll, world.Robots.Rules, world.Robots.Redirect = 0.1, 0.2, 0.2
	}
	world.Timing.HugeBytes = 60 << 10
	c := &chaos{
		testCluster: newTestCluster(t, world, 2+rng.IntN(5)), faultKinds: p, rng: rng, running: map[string]*agent{},
		absent: map[string]bool{}, ended: map[string]bool{}, leaving: map[string]bool{}, lost: map[string]bool{},
	}
	c.quorum = p.withQuorum
	late := rand.New(rand.NewPCG(seed, 12)) // used by all agents, under the lock of the hub
	if most := []time.Duration{0, time.Second, 4 * time.Second}[rng.IntN(3)]; most > 0 {
		c.hub.gossip = func() time.Duration { return time.Duration(late.Int64N(int64(most))) }
	}
	if p.messages {
		mean, share := float64(rng.IntN(600))*1e6, 0.15*rng.Float64()
		c.hub.latency = func() time.Duration { return 2*time.Millisecond + time.Duration(late.ExpFloat64()*mean) }
		c.hub.losesMessage = func() bool { return late.Float64() < share }
	}
	if rng.IntN(3) == 0 {
		c.slowSync = time.Duration(rng.IntN(3000)) * time.Millisecond
	}
	memory := []int64{16 << 10, 64 << 10, 1 << 20}[rng.IntN(3)]
	checkpoint, keepsAlive := time.Duration(1+rng.IntN(30))*time.Second, rng.IntN(3) == 0
	c.awayMax = time.Duration(20+rng.IntN(400)) * time.Second
	fetchers := []int{2, 8, 32}[rng.IntN(3)]
	t.Logf("%d agents, %d hosts on %d addresses, faults %v, think %v", len(c.names), world.Hosts, world.IPs,
		world.Faults.Reset > 0, world.Think)
	t.Logf("memory %d, checkpoint %v, sync %v, away %v, keep-alive %v", memory, checkpoint, c.slowSync, c.awayMax,
		keepsAlive)
	settings := drawSettings(late)
	t.Logf("settings %v", settings)
	c.change = func(_ string, cfg *engine.Config, _ *engine.Seams) {
		cfg.Workers.Fetchers = fetchers
		for _, s := range settings {
			if err := testbed.Assign(cfg, s); err != nil {
				t.Fatal(err)
			}
		}
		cfg.Workbench.MemoryMax = memory
		cfg.Intervals.Checkpoint = checkpoint
		cfg.Cluster.AgentAway = c.awayMax
		cfg.Limits.StallWait, cfg.Fetch.HeaderTimeout = 10*time.Minute, time.Minute // some answers take 30 s
		cfg.Politeness.BackoffMin, cfg.Politeness.BackoffMax = time.Second, 8*time.Second
		cfg.Politeness.HostBackoff = []time.Duration{time.Second, 5 * time.Second}
		cfg.Politeness.RetryDelays = []time.Duration{time.Second}
		cfg.Cold.SegmentBytes, cfg.Cold.BufferBytes, cfg.Workers.SiteItems = 4<<10, 1<<10, 8
		if keepsAlive {
			cfg.Workers.KeepAlive = 5 * time.Second
		}
	}
	return c
}

// run runs the crawl with its events, and judges it.
func (c *chaos) run() {
	began := time.Now()
	first := len(c.names)
	if c.late {
		first = max(min(2, first), first-c.rng.IntN(3))
	}
	c.least = first
	for i, name := range c.names {
		if i < first {
			c.startAgent(name)
			continue
		}
		c.absent[name] = true
		c.schedule(time.Duration(c.rng.Int64N(int64(2*time.Minute))), func() { c.restart(name) })
	}
	time.Sleep(5 * time.Second)
	for c.quorum && !c.haveAgreed() { // the others would wait for ever for an agent that is lost before that
		time.Sleep(time.Second)
	}
	duration := time.Duration(30+c.rng.IntN(240)) * time.Second
	meanPause := time.Duration(2+c.rng.IntN(20)) * time.Second
	for time.Since(began) < duration {
		c.runUntil(time.Now().Add(time.Duration(c.rng.ExpFloat64() * float64(meanPause))))
		if len(c.runningAgents()) == 0 && len(c.absent) == 0 {
			break
		}
		c.nextEvent()
	}
	for len(c.plan) > 0 {
		c.runUntil(c.plan[0].at)
	}
	if c.partitions {
		c.repair()
	}
	c.hub.mu.Lock()
	c.hub.losesMessage = nil
	c.hub.mu.Unlock()
	c.logEvent("no more events")
	c.waitForEnd()
	c.checkVerdict(began)
}

func (c *chaos) logEvent(format string, args ...any) {
	c.t.Logf("%s: %s", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

// schedule plans an event.
func (c *chaos) schedule(in time.Duration, do func()) {
	c.plan = append(c.plan, plannedEvent{time.Now().Add(in), do})
	slices.SortStableFunc(c.plan, func(a, b plannedEvent) int { return a.at.Compare(b.at) })
}

// runUntil waits for a time, and runs the planned events before it.
func (c *chaos) runUntil(at time.Time) {
	for len(c.plan) > 0 && !c.plan[0].at.After(at) {
		next := c.plan[0]
		c.plan = c.plan[1:]
		time.Sleep(time.Until(next.at))
		next.do()
	}
	time.Sleep(time.Until(at))
}

// runningAgents are the names of the agents that run, in order.
func (c *chaos) runningAgents() (names []string) {
	for _, name := range c.names {
		if a := c.running[name]; a != nil && !c.absent[name] && !c.ended[name] {
			select {
			case <-a.done:
			default:
				names = append(names, name)
			}
		}
	}
	return names
}

func (c *chaos) startAgent(name string) {
	c.running[name] = c.start(c.t.Context(), name)
}

// restart starts an agent that was absent.
func (c *chaos) restart(name string) {
	if !c.quorum {
		c.least = 1
	}
	c.logEvent("%s starts", name)
	if len(c.runningAgents()) == 0 || c.hub.hasCrawlEnded() { // it may find no agent to ask
		c.repeats = noRepeatLimit
	}
	delete(c.absent, name)
	c.startAgent(name)
}

// requestsOf is the number of requests of an agent: its archive has at most so many pages.
func (c *chaos) requestsOf(name string) int {
	return c.requests([]string{name}, time.Time{}, time.Now())
}

// randomAgents is a random part of the agents.
func (c *chaos) randomAgents() (names []string) {
	for _, name := range c.names {
		if c.rng.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// mayLose says whether another agent may leave or be lost. At least one agent must remain, and with a quorum a
// majority. Leaving agents count for the majority until they have left.
func (c *chaos) mayLose() bool {
	up := c.runningAgents()
	remaining := slices.DeleteFunc(slices.Clone(up), func(name string) bool { return c.leaving[name] })
	if !c.quorum {
		return len(remaining) > 1
	}
	return len(c.absent) == 0 && !c.isPartitioned && len(remaining) > 2 && len(remaining) == len(up) && c.haveAgreed()
}

// haveAgreed says that all running agents have agreed on their members, or are at the end.
func (c *chaos) haveAgreed() bool {
	up := c.runningAgents()
	for _, name := range up {
		if q := c.running[name].report().Cluster.Quorum; q != nil && (!q.HasLease || !slices.Equal(q.Voters, up)) {
			return false
		}
	}
	return true
}

// nextEvent chooses an event at random and runs it.
func (c *chaos) nextEvent() {
	up := c.runningAgents()
	if len(up) == 0 {
		return
	}
	a := c.running[up[c.rng.IntN(len(up))]]
	var can []func(*agent)
	if c.kills {
		can = append(can, c.killAndRestart)
	}
	if c.losses {
		can = append(can, c.loseDisk)
	}
	if c.stops {
		can = append(can, c.stopAgent)
	}
	if c.leaves {
		can = append(can, c.leaveAgent)
	}
	if c.partitions {
		can = append(can, c.partition, c.partition)
	}
	if len(can) > 0 {
		c.events++
		can[c.rng.IntN(len(can))](a)
	}
}

// killAgent kills an agent; the others find out some seconds later.
func (c *chaos) killAgent(a *agent) {
	a.kill([]testbed.Death{
		testbed.Sigkill,
		func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(c.rng) },
		func(disk *vfs.Mem) *vfs.Mem { return disk.LostClone(1) },
	}[c.rng.IntN(3)])
	c.absent[a.name] = true
	c.forgive(a.name)
	c.repeats += c.config("").Workers.Fetchers + 8 + int(c.slowSync/(500*time.Millisecond))
	notice := 5*time.Second + time.Duration(c.rng.Int64N(int64(4*time.Second)))
	c.schedule(notice, func() { c.hub.remove(a.endpoint) })
}

func (c *chaos) killAndRestart(a *agent) {
	c.logEvent("%s is killed", a.name)
	c.killAgent(a)
	back := time.Duration(c.rng.Int64N(int64(4 * time.Second)))
	if c.rng.IntN(2) == 0 { // the others may take its hosts over
		back = time.Duration(c.rng.Int64N(int64(90 * time.Second)))
		c.repeats += c.requestsOf(a.name)
	}
	c.schedule(back, func() { c.restart(a.name) })
}

func (c *chaos) loseDisk(a *agent) {
	if !c.mayLose() || c.hub.isDone(a.name) { // an agent that has nothing left has left, and its archive counts
		return
	}
	c.logEvent("%s is killed, and its disk is lost", a.name)
	c.killAgent(a)
	c.repeats += c.requestsOf(a.name)
	if c.rng.IntN(2) == 0 {
		delete(c.absent, a.name)
		c.ended[a.name], c.lost[a.name] = true, true
		return
	}
	c.disks[a.name] = vfs.NewMem(c.rng.Uint64())
	c.schedule(time.Duration(c.rng.Int64N(int64(90*time.Second))), func() { c.restart(a.name) })
}

func (c *chaos) stopAgent(a *agent) {
	if c.inOrder && c.leaving[a.name] {
		return
	}
	c.logEvent("%s is stopped", a.name)
	a.stop()
	<-a.done
	c.absent[a.name] = true
	back := time.Duration(c.rng.Int64N(int64(90 * time.Second)))
	// The others may take its hosts over, and they do not wait for a leaving agent.
	if back > c.awayMax-20*time.Second || c.leaving[a.name] {
		c.repeats += c.requestsOf(a.name)
	}
	c.schedule(back, func() { c.restart(a.name) })
}

func (c *chaos) leaveAgent(a *agent) {
	if !c.mayLose() {
		return
	}
	err := a.leave(c.t.Context())
	c.logEvent("%s leaves permanently: %v", a.name, err)
	if err != nil {
		return
	}
	c.leaving[a.name] = true
	c.schedule(time.Duration(c.rng.Int64N(int64(20*time.Second))), func() {})
}

// partition separates the agents into two groups, or breaks some connections, or lets some not see others. Membership
// learns of it some time later, and of its end, too.
func (c *chaos) partition(*agent) {
	if c.isPartitioned {
		return
	}
	c.isPartitioned, c.hadPartition = true, true
	c.repeats = noRepeatLimit
	one := c.randomAgents()
	other := slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return slices.Contains(one, name) })
	kind := c.rng.IntN(4)
	duration := time.Duration(5+c.rng.IntN(60)) * time.Second
	c.logEvent("%v are separated from %v, kind %d, for %v", one, other, kind, duration)
	switch kind {
	case 0: // full
		c.hub.setBroken(one, other, true)
		c.hub.setBroken(other, one, true)
	case 1: // in one direction
		c.hub.setBroken(one, other, true)
	case 2: // some connections
		c.hub.setBroken(c.randomAgents(), c.randomAgents(), true)
		c.hub.setBroken(c.randomAgents(), c.randomAgents(), true)
	default: // membership is wrong
		c.hub.setSeen(one, other, false)
	}
	if kind < 3 {
		c.schedule(time.Duration(c.rng.Int64N(int64(detectionTime))), func() {
			if c.isPartitioned {
				c.hub.updateMembership(c.names)
			}
		})
	}
	c.schedule(duration, func() {
		c.logEvent("the partition is over")
		c.hub.repairAll()
		c.isPartitioned = false
	})
	c.schedule(duration+time.Duration(c.rng.Int64N(int64(5*time.Second))), func() {
		if !c.isPartitioned {
			c.hub.updateMembership(c.names)
		}
	})
}
