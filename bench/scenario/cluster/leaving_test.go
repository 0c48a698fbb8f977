//go:build scenario

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// One of three agents leaves permanently in the middle of the crawl. No page is fetched twice, none is missing, the
// others do not wait for it, and all delays are kept.
func TestAgents_oneLeaves(t *testing.T) {
	eachSeed(t, 800, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Faulty()), 3)
		running := b.startAll(b.names)
		time.Sleep(time.Duration(20+3*i) * time.Second)
		left := b.names[i%3]
		began := time.Now()
		running[left].mustLeave(t)
		<-running[left].done
		took := time.Since(began)
		r := b.wantLeft(left)
		testbed.CheckConservation(t, r)
		b.wait()
		v := b.judge()
		recovered := b.reports[b.names[(i+1)%3]].Outcomes["recovered"] + b.reports[b.names[(i+2)%3]].Outcomes["recovered"]
		t.Logf("it took %v; %d pages, %d fetched again; %d of the agent that left, %d URLs handed over, %d recovered",
			took, v.Fetched, v.Repeated, r.PagesStored, r.Outcomes["handed-over"], recovered)
		if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || v.Repeated > 0 || v.Overlap > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}

// With a quorum one of four agents leaves permanently, and then another one. The others agree on a view without them
// and continue.
func TestAgents_twoLeaveWithAQuorum(t *testing.T) {
	eachSeed(t, 890, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Faulty()), 4)
		b.quorum = true
		running := b.startAll(b.names)
		for k := range 2 {
			time.Sleep(time.Duration(20+3*i) * time.Second)
			left := b.names[(i+k)%4]
			running[left].mustLeave(t)
			<-running[left].done
			b.wantLeft(left)
		}
		b.wait()
		v := b.judge()
		t.Logf("%d pages, %d fetched again", v.Fetched, v.Repeated)
		wantWhole(t, v, b.config("").Workers.Fetchers)
	})
}

// Two of four agents leave, one after the other. The second passes on the fetched set of the first, and no agent waits
// for them.
func TestAgents_twoLeaveOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+810, simweb.Plain()), 4)
		running := map[string]*agent{}
		began := time.Now()
		for _, name := range b.names {
			running[name] = b.start(t.Context(), name)
		}
		for _, name := range b.names[:2] {
			time.Sleep(20 * time.Second)
			running[name].mustLeave(t)
			<-running[name].done
		}
		b.wait()
		took := time.Since(began)
		v := b.judge()
		t.Logf("virtual time %v, %d pages, %d fetched again", took, v.Fetched, v.Repeated)
		if v.Coverage != 1 || v.Overlap != 0 || v.Repeated > 0 || impolite(v) || took > 8*time.Minute {
			testbed.FailVerdict(t, v)
		}
	})
}

// An agent leaves while it has exchanges that take longer than it waits. It aborts them, and leaves.
func TestAgents_oneLeavesDuringLongExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+815, simweb.Plain())
		world.Think, world.PagesPerHostMean, world.PagesPerHostMax = time.Minute, 4, 9
		b := newTestCluster(t, world, 3)
		b.change = func(_ string, cfg *engine.Config, _ *engine.Seams) { // some hosts think for longer than five minutes
			cfg.Fetch.HeaderTimeout, cfg.Fetch.TotalTimeout = time.Hour, time.Hour
		}
		running := b.startAll(b.names)
		time.Sleep(90 * time.Second)
		left := b.names[0]
		inFlight := running[left].report().URLsInFlight
		running[left].mustLeave(t)
		<-running[left].done
		b.wantLeft(left)
		b.wait()
		v := b.judge()
		t.Logf("%d URLs in flight; %d pages, %d fetched again", inFlight, v.Fetched, v.Repeated)
		if v.Coverage != 1 || v.Duplicates > 0 || v.Repeated > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}

// An agent that is killed or stopped while it leaves continues to leave when it starts again.
func TestAgents_aLeavingAgentRestarts(t *testing.T) {
	eachSeed(t, 820, func(t *testing.T, i int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
		running := b.startAll(b.names)
		time.Sleep(time.Duration(20+3*(i%12)) * time.Second) // while there is much left to fetch
		left := b.names[0]
		running[left].mustLeave(t)
		time.Sleep(time.Duration(rng.Int64N(int64(900 * time.Millisecond))))
		if i%2 == 1 { // in order
			running[left].stop()
			<-running[left].done
		} else {
			running[left].kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
		}
		time.Sleep(2 * time.Second)
		b.start(t.Context(), left)
		b.wait()
		v := b.judge()
		r := b.reports[left]
		t.Logf("%s: %s; %d pages, %d fetched again", r.State, r.Reason, v.Fetched, v.Repeated)
		wantWhole(t, v, b.config("").Workers.Fetchers)
		if r.State != lifecycle.Finished {
			t.Errorf("it has not finished: %s (%s)", r.State, r.Reason)
		}
	})
}

// An agent fails while it leaves, and its disk is lost. The others fetch the pages again that it said it had.
func TestAgents_aLeavingAgentIsLost(t *testing.T) {
	eachSeed(t, 850, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
		b.hub.latency = func() time.Duration { return 150 * time.Millisecond } // so that leaving takes a while
		running := b.startAll(b.names)
		time.Sleep(time.Duration(20+3*(i%12)) * time.Second) // while there is much left to fetch
		if err := running["agent-0"].leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(300+150*(i%6)) * time.Millisecond)
		select {
		case <-running["agent-0"].done:
			t.Fatal("it has left already")
		default:
		}
		had := b.loseAgent(running["agent-0"])
		b.wait()
		b.names = []string{"agent-1", "agent-2"}
		v := b.judge()
		t.Logf("%d pages, %d of them lost and fetched again; %d fetched again", v.Fetched, had, v.Repeated)
		if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || v.Repeated > had+b.config("").Workers.Fetchers {
			testbed.FailVerdict(t, v)
		}
	})
}

// An agent leaves, and then another one is lost with its disk. What the first had sent to the second is sent again.
func TestAgents_oneLeavesAndAnotherIsLost(t *testing.T) {
	eachSeed(t, 830, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
		running := b.startAll(b.names)
		time.Sleep(25 * time.Second)
		if err := running["agent-0"].leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-running["agent-0"].done
		time.Sleep(time.Duration(3*(i%6)) * time.Second)
		had := b.loseAgent(running["agent-1"])
		b.wait()
		b.names = []string{"agent-0", "agent-2", "agent-3"}
		v := b.judge()
		t.Logf("%d pages, %d of them lost and fetched again; %d fetched again", v.Fetched, had, v.Repeated)
		if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || v.Repeated > had+b.config("").Workers.Fetchers {
			testbed.FailVerdict(t, v)
		}
	})
}

// An agent starts again while another one leaves, and does not know its members yet. It delivers the backlog for the
// leaving agent all the same: otherwise the crawl would never end.
func TestAgents_aRestartedAgentDeliversToALeavingAgent(t *testing.T) {
	const worlds = 8 // in some, agent-1 finds no URL of agent-0 in time
	hadBacklog := false
	for draw := uint64(0); draw < worlds && !hadBacklog && !t.Failed(); draw++ {
		hadBacklog = restartBesideALeavingAgent(t, *testbed.FirstSeed+845+1000*draw)
	}
	if !hadBacklog {
		t.Errorf("agent-1 had no backlog in %d worlds", worlds)
	}
}

// restartBesideALeavingAgent reports whether agent-1 had a backlog for agent-0 when it stopped.
func restartBesideALeavingAgent(t *testing.T, seed uint64) (hadBacklog bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
		running := b.startAll(b.names)
		time.Sleep(10 * time.Second)
		b.hub.setBroken([]string{"agent-1"}, []string{"agent-0"}, true)
		time.Sleep(15 * time.Second)
		running["agent-1"].stop()
		<-running["agent-1"].done
		if hadBacklog = b.reports["agent-1"].Cluster.URLsWaiting > 0; !hadBacklog {
			b.hub.repairAll()
			b.start(t.Context(), "agent-1")
			b.wait()
			return
		}
		b.loseAgent(running["agent-3"])
		time.Sleep(2 * time.Second) // until all agents have heard of that
		if err := running["agent-0"].leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		b.hub.repairAll()
		b.start(t.Context(), "agent-1") // it waits for agent-3 for a while
		b.names = b.names[:3]
		b.wait()
		if v := b.judge(); v.Coverage != 1 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
	return hadBacklog
}

// An agent that is stopped while it leaves continues to leave, although one of the others has never heard of it. With a
// quorum the agents could not agree on their members otherwise, and no agent would fetch anything again.
func TestAgents_oneAgentHasNotHeardThatAnotherLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+848, simweb.Plain()), 3)
		b.quorum = true
		b.hub.latency = func() time.Duration { return 150 * time.Millisecond } // so that leaving takes a while
		b.change = func(_ string, c *engine.Config, _ *engine.Seams) { c.Cluster.AgentAway = time.Second }
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		running := map[string]*agent{}
		for _, name := range b.names {
			running[name] = b.start(ctx, name)
		}
		time.Sleep(20 * time.Second)
		running["agent-1"].stop()
		<-running["agent-1"].done
		time.Sleep(30 * time.Second) // the others continue without it
		left := running["agent-2"]
		if err := left.leave(ctx); err != nil {
			t.Fatal(err)
		}
		for share := 1.0; share > 0; time.Sleep(20 * time.Millisecond) {
			for _, a := range left.report().Cluster.Agents {
				if a.ID == left.name {
					share = a.Share
				}
			}
		}
		left.stop()
		<-left.done
		if r := b.reports[left.name]; r.State != lifecycle.Stopped {
			t.Fatalf("%s: %s (%s)", left.name, r.State, r.Reason)
		}
		b.start(ctx, "agent-1")
		b.start(ctx, left.name)
		b.wait()
		v := b.judge()
		if v.Coverage != 1 || v.Repeated > b.config("").Workers.Fetchers || impolite(v) {
			testbed.FailVerdict(t, v)
		}
		for _, name := range b.names {
			if r := b.reports[name]; r.State != lifecycle.Finished {
				t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
			}
		}
	})
}

// An agent cannot leave if no other agent can take its hosts. It continues to crawl.
func TestAgents_theLastAgentCannotLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+840, simweb.Plain()), 2)
		b.least = 1
		only := b.start(t.Context(), b.names[0])
		time.Sleep(10 * time.Second)
		if err := only.leave(t.Context()); !errors.Is(err, cluster.ErrNoAgentStays) {
			t.Error(err)
		}
		other := b.start(t.Context(), b.names[1])
		time.Sleep(5 * time.Second)
		b.hub.setEarlierVersion(other.endpoint, true)
		if err := only.leave(t.Context()); !errors.Is(err, cluster.ErrLeaveUnknown) {
			t.Error(err)
		}
		b.hub.setEarlierVersion(other.endpoint, false)
		b.wait()
		if v := b.judge(); v.Coverage != 1 || b.reports[b.names[0]].Reason != "complete" {
			testbed.FailVerdict(t, v)
		}
	})
}

// Only the agent that leaves has ever seen a link to these hosts. It sends them to another agent, which is then lost
// with its disk. A third agent has what it sent.
func TestAgents_sentURLsSurviveTheirSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 30
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
		index := ""
		for h := range hosts {
			name := fmt.Sprintf("h%d.test", h)
			index += "<a href=http://" + name + "/>there</a>\n"
			s.Hosts[name] = testbed.HostWithRobots(60, testbed.AlwaysRespond(404, "", ""))
		}
		s.Hosts["index.test"] = func(_ string, _ int, c net.Conn) { testbed.Respond(c, 200, "", index) }
		b := newScriptedCluster(t, s, 3)
		b.rig.Seeds = []string{"http://index.test/"}
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		left := s.Pages("index.test")[0].Agent
		running[left].mustLeave(t)
		<-running[left].done
		var rest []string
		for _, name := range b.names {
			if name != left {
				rest = append(rest, name)
			}
		}
		time.Sleep(5 * time.Second)
		b.loseAgent(running[rest[0]])
		b.wait()
		s.Done.Wait()
		lost, others := map[string]bool{}, map[string]bool{}
		for _, a := range s.Requests {
			if a.Path == "/" {
				lost[a.Host] = lost[a.Host] || a.Agent == rest[0]
				others[a.Host] = others[a.Host] || a.Agent != rest[0]
			}
		}
		n := 0
		for host := range s.Hosts {
			if lost[host] {
				n++
			}
			if !others[host] {
				t.Errorf("%s is in the archive of the agent that was lost, and nowhere else", host)
			}
		}
		if n < 5 {
			t.Errorf("the lost agent had %d hosts", n)
		}
	})
}
