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
	"orbweaver/bench/simweb"
	"orbweaver/bench/simweb/judge"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// chaos is one story: what has happened, and what is going to.
type chaos struct {
	*band
	perils
	rng     *rand.Rand
	running map[string]*agent
	plan    []deed // what is to be done later
	absent  map[string]bool
	gone    map[string]bool // left permanently, or never come back
	leaving map[string]bool // told to leave permanently
	lost    map[string]bool // the archive is lost, too
	again   int             // that may be asked for again
	away    time.Duration   // so long a stopped agent is waited for
	events  int
	parted  bool // there was a partition
	split   bool // there is one
}

type deed struct {
	at time.Time
	do func()
}

// chaosLimit is more virtual time than any of these crawls needs.
const chaosLimit = 3 * time.Hour

// stories are what may happen in a story, by its number.
func stories(i int) (name string, p perils) {
	switch i % 9 {
	case 0:
		return "everything, quorum", perils{kills: true, losses: true, stops: true, late: true, leaves: true, letters: true, parts: true, voted: true}
	case 1:
		return "all but partitions", perils{kills: true, losses: true, stops: true, late: true, leaves: true, letters: true}
	case 2:
		return "partitions, kills, quorum", perils{kills: true, stops: true, parts: true, voted: true}
	case 3:
		return "churn", perils{kills: true, stops: true, late: true, leaves: true}
	case 4:
		return "everything", perils{kills: true, losses: true, stops: true, late: true, leaves: true, letters: true, parts: true}
	case 5:
		return "churn, quorum", perils{kills: true, stops: true, late: true, leaves: true, voted: true}
	case 6:
		return "losses, quorum", perils{losses: true, letters: true, voted: true}
	case 7:
		return "leaves, quorum", perils{leaves: true, late: true, letters: true, voted: true}
	default:
		return "partitions", perils{parts: true, letters: true}
	}
}

// Random stories of some agents, from the few that are told each time to any number with -worlds. The log of the web is
// the judge.
func TestAgents_chaos(t *testing.T) {
	for i := range bands() {
		name, p := stories(i)
		seed := *testbed.FirstSeed + 2000 + uint64(i)
		t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newChaos(t, seed, p).tell() })
		})
	}
}

// newChaos makes agents, a web and circumstances by a seed.
func newChaos(t *testing.T, seed uint64, p perils) *chaos {
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
		world.Timing.CrawlDelay = time.Duration(rng.IntN(5)) * time.Second // who dies takes along what it knew of longer ones
		world.IPs = []int{20, 50, 150}[rng.IntN(3)]
	}
	if rng.IntN(3) == 0 {
		world.Robots.AllowAll, world.Robots.Rules, world.Robots.Redirect = 0.1, 0.2, 0.2
	}
	world.Timing.HugeBytes = 60 << 10
	c := &chaos{
		band: newBand(t, world, 2+rng.IntN(5)), perils: p, rng: rng, running: map[string]*agent{}, absent: map[string]bool{}, gone: map[string]bool{}, leaving: map[string]bool{},
		lost: map[string]bool{},
	}
	c.quorum = p.voted
	late := rand.New(rand.NewPCG(seed, 12)) // these are asked by all agents, under the lock of the hub
	if most := []time.Duration{0, time.Second, 4 * time.Second}[rng.IntN(3)]; most > 0 {
		c.hub.gossip = func() time.Duration { return time.Duration(late.Int64N(int64(most))) }
	}
	if p.letters {
		mean, share := float64(rng.IntN(400))*1e6, 0.15*rng.Float64()
		c.hub.latency = func() time.Duration { return 2*time.Millisecond + time.Duration(late.ExpFloat64()*mean) }
		c.hub.drops = func() bool { return late.Float64() < share }
	}
	if rng.IntN(3) == 0 {
		c.slowSync = time.Duration(rng.IntN(3000)) * time.Millisecond
	}
	memory, checkpoint, keep := []int64{16 << 10, 64 << 10, 1 << 20}[rng.IntN(3)], time.Duration(1+rng.IntN(30))*time.Second, rng.IntN(3) == 0
	c.away = time.Duration(20+rng.IntN(400)) * time.Second
	fetchers := []int{2, 8, 32}[rng.IntN(3)]
	t.Logf("%d agents, %d hosts on %d addresses, faults %v, think %v; memory %d, checkpoint %v, sync %v, away %v, keep-alive %v", len(c.names), world.Hosts, world.IPs, world.Faults.Reset > 0,
		world.Think, memory, checkpoint, c.slowSync, c.away, keep)
	c.alter = func(_ string, cfg *engine.Config, _ *engine.Seams) {
		cfg.Workers.Fetchers = fetchers
		cfg.Workbench.MemoryMax = memory
		cfg.Intervals.Checkpoint = checkpoint
		cfg.Cluster.AgentAway = c.away
		cfg.Limits.StallWait, cfg.Fetch.HeaderTimeout = 10*time.Minute, time.Minute // some answers take 30 s
		cfg.Politeness.BackoffMin, cfg.Politeness.BackoffMax = time.Second, 8*time.Second
		cfg.Politeness.HostBackoff = []time.Duration{time.Second, 5 * time.Second}
		cfg.Politeness.RetryDelays = []time.Duration{time.Second}
		cfg.Cold.SegmentBytes, cfg.Cold.BufferBytes, cfg.Workers.SiteItems = 4<<10, 1<<10, 8
		if keep {
			cfg.Workers.KeepAlive = 5 * time.Second
		}
	}
	return c
}

// tell tells the story, and judges it.
func (c *chaos) tell() {
	began := time.Now()
	first := len(c.names)
	if c.late {
		first = max(min(2, first), first-c.rng.IntN(3))
	}
	c.least = first
	for i, name := range c.names {
		if i < first {
			c.come(name)
			continue
		}
		c.absent[name] = true
		c.later(time.Duration(c.rng.Int64N(int64(2*time.Minute))), func() { c.comeBack(name) })
	}
	time.Sleep(5 * time.Second)
	for c.quorum && !c.agree() { // who is lost before that is waited for for ever
		time.Sleep(time.Second)
	}
	lasts := time.Duration(30+c.rng.IntN(240)) * time.Second
	calm := time.Duration(2+c.rng.IntN(20)) * time.Second
	for time.Since(began) < lasts {
		c.until(time.Now().Add(time.Duration(c.rng.ExpFloat64() * float64(calm))))
		if len(c.up()) == 0 && len(c.absent) == 0 {
			break
		}
		c.event()
	}
	for len(c.plan) > 0 {
		c.until(c.plan[0].at)
	}
	if c.parts {
		c.heal()
	}
	c.hub.mu.Lock()
	c.hub.drops = nil
	c.hub.mu.Unlock()
	c.say("the story is over")
	c.finish()
	c.verdict(began)
}

func (c *chaos) say(format string, args ...any) {
	c.t.Logf("%s: %s", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

// later plans a deed.
func (c *chaos) later(in time.Duration, do func()) {
	c.plan = append(c.plan, deed{time.Now().Add(in), do})
	slices.SortStableFunc(c.plan, func(a, b deed) int { return a.at.Compare(b.at) })
}

// until waits for a moment, and does meanwhile what is planned.
func (c *chaos) until(at time.Time) {
	for len(c.plan) > 0 && !c.plan[0].at.After(at) {
		next := c.plan[0]
		c.plan = c.plan[1:]
		time.Sleep(time.Until(next.at))
		next.do()
	}
	time.Sleep(time.Until(at))
}

// up are the agents that run, in order.
func (c *chaos) up() (names []string) {
	for _, name := range c.names {
		if a := c.running[name]; a != nil && !c.absent[name] && !c.gone[name] {
			select {
			case <-a.done:
			default:
				names = append(names, name)
			}
		}
	}
	return names
}

func (c *chaos) come(name string) {
	c.running[name] = c.start(c.t.Context(), name)
}

// comeBack starts an agent that was absent.
func (c *chaos) comeBack(name string) {
	if !c.quorum {
		c.least = 1
	}
	c.say("%s comes", name)
	if len(c.up()) == 0 || c.hub.ending() { // it may find nobody to ask
		c.again = 1 << 30
	}
	delete(c.absent, name)
	c.come(name)
}

// asked is how often an agent has asked for anything: its archive has fewer pages.
func (c *chaos) asked(name string) int { return c.requests([]string{name}, time.Time{}, time.Now()) }

// some is a random part of the agents.
func (c *chaos) some() (names []string) {
	for _, name := range c.names {
		if c.rng.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// spare says that one more agent may leave or fail for long: one agent must stay, and with a quorum a majority. Leaving
// agents count for the majority until they have left.
func (c *chaos) spare() bool {
	up := c.up()
	stay := slices.DeleteFunc(slices.Clone(up), func(name string) bool { return c.leaving[name] })
	if !c.quorum {
		return len(stay) > 1
	}
	return len(c.absent) == 0 && !c.split && len(stay) > 2 && len(stay) == len(up) && c.agree()
}

// agree says that all who run have agreed on who they are, or are at the end.
func (c *chaos) agree() bool {
	up := c.up()
	for _, name := range up {
		if q := c.running[name].report().Peers.Quorum; q != nil && (!q.Majority || !slices.Equal(q.Agreed, up)) {
			return false
		}
	}
	return true
}

// event has something happen.
func (c *chaos) event() {
	up := c.up()
	if len(up) == 0 {
		return
	}
	a := c.running[up[c.rng.IntN(len(up))]]
	var can []func(*agent)
	if c.kills {
		can = append(can, c.kill)
	}
	if c.losses {
		can = append(can, c.lose)
	}
	if c.stops {
		can = append(can, c.halt)
	}
	if c.leaves {
		can = append(can, c.depart)
	}
	if c.parts {
		can = append(can, c.part, c.part)
	}
	if len(can) > 0 {
		c.events++
		can[c.rng.IntN(len(can))](a)
	}
}

// die kills an agent; the others find out some seconds later.
func (c *chaos) die(a *agent) {
	death := []testbed.Death{testbed.Sigkill, func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(c.rng) }, func(disk *vfs.Mem) *vfs.Mem { return disk.LostClone(1) }}[c.rng.IntN(3)]
	a.kill(death)
	c.absent[a.name] = true
	delete(c.errs, a.name)
	c.again += c.config("").Workers.Fetchers + 8 + int(c.slowSync/(500*time.Millisecond))
	c.later(5*time.Second+time.Duration(c.rng.Int64N(int64(4*time.Second))), func() { c.hub.leave(a.desk) })
}

func (c *chaos) kill(a *agent) {
	c.say("%s is killed", a.name)
	c.die(a)
	back := time.Duration(c.rng.Int64N(int64(4 * time.Second)))
	if c.rng.IntN(2) == 0 { // it is missed
		back = time.Duration(c.rng.Int64N(int64(90 * time.Second)))
		c.again += c.asked(a.name)
	}
	c.later(back, func() { c.comeBack(a.name) })
}

func (c *chaos) lose(a *agent) {
	if !c.spare() || c.hub.hasGone(a.name) { // who has nothing left has left, and its archive is one to be kept
		return
	}
	c.say("%s is killed, and its disk is lost", a.name)
	c.die(a)
	c.again += c.asked(a.name)
	if c.rng.IntN(2) == 0 {
		delete(c.absent, a.name)
		c.gone[a.name], c.lost[a.name] = true, true
		return
	}
	c.disks[a.name] = vfs.NewMem(c.rng.Uint64())
	c.later(time.Duration(c.rng.Int64N(int64(90*time.Second))), func() { c.comeBack(a.name) })
}

func (c *chaos) halt(a *agent) {
	if c.order && c.leaving[a.name] {
		return
	}
	c.say("%s is stopped", a.name)
	a.stop()
	<-a.done
	c.absent[a.name] = true
	back := time.Duration(c.rng.Int64N(int64(90 * time.Second)))
	if back > c.away-20*time.Second || c.leaving[a.name] { // it may be missed, and nobody counts on one that leaves
		c.again += c.asked(a.name)
	}
	c.later(back, func() { c.comeBack(a.name) })
}

func (c *chaos) depart(a *agent) {
	if !c.spare() {
		return
	}
	err := a.leave(c.t.Context())
	c.say("%s leaves permanently: %v", a.name, err)
	if err != nil {
		return
	}
	c.leaving[a.name] = true
	c.later(time.Duration(c.rng.Int64N(int64(20*time.Second))), func() {})
}

// part cuts the agents in two, or some ways, or has some not see others; membership finds out some time later, and the
// end of it, too.
func (c *chaos) part(*agent) {
	if c.split {
		return
	}
	c.split, c.parted = true, true
	c.again = 1 << 30
	one := c.some()
	other := slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return slices.Contains(one, name) })
	kind := c.rng.IntN(4)
	lasts := time.Duration(5+c.rng.IntN(60)) * time.Second
	c.say("%v are parted from %v, kind %d, for %v", one, other, kind, lasts)
	switch kind {
	case 0: // full
		c.hub.sever(one, other, true)
		c.hub.sever(other, one, true)
	case 1: // one way
		c.hub.sever(one, other, true)
	case 2: // some ways, whatever they are
		c.hub.sever(c.some(), c.some(), true)
		c.hub.sever(c.some(), c.some(), true)
	default: // membership is wrong
		c.hub.see(one, other, false)
	}
	if kind < 3 {
		c.later(time.Duration(c.rng.Int64N(int64(noticed))), func() {
			if c.split {
				c.hub.notice(c.names)
			}
		})
	}
	c.later(lasts, func() {
		c.say("the partition is over")
		c.hub.mend()
		c.split = false
	})
	c.later(lasts+time.Duration(c.rng.Int64N(int64(5*time.Second))), func() {
		if !c.split {
			c.hub.notice(c.names)
		}
	})
}

// finish waits for all to end, and says who does not.
func (c *chaos) finish() {
	end := time.NewTimer(chaosLimit)
	defer end.Stop()
	all := make(chan struct{})
	go func() {
		defer close(all)
		c.wg.Wait()
	}()
	select {
	case <-all:
	case <-end.C:
		up := c.up()
		for _, name := range up {
			r := c.running[name].report()
			c.say("%s still runs: %s (%s), %d queued, %d in flight, %+v, quorum %+v", name, r.State, r.Reason, r.URLsQueued, r.URLsInFlight, *r.Peers, r.Peers.Quorum)
		}
		if !c.quorum || len(up) > (len(c.names)-len(c.gone))/2 {
			c.t.Errorf("%v do not come to their end", up)
		}
		for _, name := range up {
			c.running[name].stop()
		}
		<-all
	}
	for name, err := range c.errs {
		if err != nil {
			c.t.Errorf("%s: %v", name, err)
		}
	}
}

// verdict judges it.
func (c *chaos) verdict(began time.Time) {
	grounded := 0
	for _, name := range c.names {
		if !c.lost[name] {
			if r := testbed.Fsck(c.t, c.disks[name]); !r.Sound() {
				r.Print(c.t.Output())
				c.t.Errorf("%s is not sound", name)
			}
			if c.running[name] != nil {
				testbed.CheckConservation(c.t, c.reports[name])
			}
			if p := c.reports[name].Peers; p != nil && p.Quorum != nil {
				grounded += int(p.Quorum.Grounded)
			}
		}
	}
	c.names = slices.DeleteFunc(c.names, func(name string) bool { return c.lost[name] })
	v := c.judge()
	c.t.Logf("%d events, virtual time %v; %d pages, %d asked for again (%d may be), %d letters, %d questions", c.events, time.Since(began), v.Fetched, v.Repeated, c.again, c.hub.letters, c.hub.asked)
	var faults []string
	fault := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	fault(v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0, "coverage %v", v.Coverage)
	fault((c.quorum || !c.parted) && impolite(v), "host %d+%d, address %d+%d", v.HostGapViolations, v.HostConcurrency, v.IPGapViolations, v.IPConcurrency)
	fault(v.Repeated > c.again+grounded || c.again == 0 && v.Duplicates > 0, "%d asked for again, %d stored twice", v.Repeated, v.Duplicates)
	fault(v.RobotsViolations+v.StoredUnknown+v.Unexpected+v.DigestMismatches+v.Nameless > 0, "robots %d, stored unknown %d, unexpected %d, digests %d", v.RobotsViolations, v.StoredUnknown,
		v.Unexpected, v.DigestMismatches)
	if len(faults) > 0 {
		v.Print(c.t.Output())
		c.explain(v)
		c.t.Errorf("the oracle complains: %s", strings.Join(faults, "; "))
	}
}

// explain says how all ended, and what was asked of the hosts of missing pages.
func (c *chaos) explain(v judge.Verdict) {
	for _, name := range c.names {
		r := c.reports[name]
		c.t.Logf("%s: %s (%s), %d queued, %v", name, r.State, r.Reason, r.URLsQueued, r.Outcomes)
	}
	for _, example := range v.Examples {
		missing, is := strings.CutPrefix(example, "missing: ")
		again, was := strings.CutPrefix(example, "repeated: ")
		if is || was {
			for a := range c.rig.Log.All() {
				if is && strings.HasPrefix(missing, a.Site) || was && a.URL == again {
					c.t.Logf("%s to %s %s asks for %s: %d, whole %v, cut %v", a.Time.Format("15:04:05.000"), a.End.Format("15:04:05.000"), agentOf(&a), a.URL, a.Status, a.Whole, a.Cut)
				}
			}
		}
	}
}
