//go:build scenario

package cluster

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

// While a stopped agent is expected back, the others finish all their hosts, on any address: another agent grants the
// leases of its addresses meanwhile.
func TestAgents_aStoppedAgentBlocksNoAddresses(t *testing.T) {
	eachSeed(t, 1600, func(t *testing.T, _ int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
		b.delayGossip(seed, 4*time.Second)
		var all []*agent
		for _, name := range b.names {
			all = append(all, b.start(t.Context(), name))
		}
		time.Sleep(5 * time.Second)
		stopped := all[2]
		stopped.stop()
		<-stopped.done
		time.Sleep(8 * time.Minute)
		for _, a := range all[:2] {
			if r := a.report(); r.URLsQueued > 0 {
				t.Errorf("%s still has %d URLs after eight minutes", a.name, r.URLsQueued)
			}
		}
		b.start(t.Context(), stopped.name)
		b.wait()
		v := b.judge()
		if v.Coverage != 1 || v.Repeated > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}

// An agent joins in the last moment of another agent's leaving. The leaving agent never hears of it. The new agent sees
// only that the other one ended in order, as an agent does that is stopped. The other agents tell it that this agent
// has left permanently. So no agent waits for it, and nothing is fetched twice.
func TestAgents_oneJoinsAsAnotherHasLeft(t *testing.T) {
	eachSeed(t, 1000, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
		b.least = 3
		leaves, late := b.names[0], b.names[3]
		done := make(chan struct{})
		var once sync.Once
		b.hub.staysUnanswered = func(from, _ string, question []byte) bool {
			if from == leaves && question[0] == 'G' && question[1] == 2 {
				once.Do(func() { close(done) })
			}
			return false
		}
		began := time.Now()
		running := b.startAll(b.names[:3])
		time.Sleep(time.Duration(30+5*(i%8)) * time.Second)
		b.hub.mu.Lock()
		b.hub.gossip = func() time.Duration { return 2 * time.Second } // all agents learn of changes late
		b.hub.mu.Unlock()
		running[leaves].mustLeave(t)
		<-done
		b.start(t.Context(), late)
		b.wait()
		v := b.judge()
		took := time.Since(began)
		t.Logf("%d pages, %d fetched again, in %v", v.Fetched, v.Repeated, took)
		wantWhole(t, v, 0)
		if r := b.reports[leaves]; r.State != lifecycle.Finished || took > 10*time.Minute {
			t.Errorf("%s: %s (%s) after %v", leaves, r.State, r.Reason, took)
		}
	})
}

// Two agents leave permanently. The first does not know yet that the second leaves, and sends it messages. They arrive
// when the second has told the others that it has nothing left. They are given away once more, or refused, and nothing
// is lost.
func TestAgents_aMessageArrivesAtAnAgentThatHasNothingLeft(t *testing.T) {
	for i := range 4 * seedCount() {
		seed := *testbed.FirstSeed + 1200 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
				b.least = 3
				first, second := b.names[2], b.names[0]
				announced, done := make(chan struct{}), make(chan struct{})
				var announce, finish sync.Once
				b.hub.staysUnanswered = func(from, to string, question []byte) bool {
					switch {
					case from == first && to == second && question[0] == 'G' && question[1] == 1:
						announce.Do(func() { close(announced) })
					case from == second && question[0] == 'G' && question[1] == 2:
						finish.Do(func() { close(done) })
					}
					return false
				}
				b.hub.onSend = func(ctx context.Context, from, to string, _ []byte) error {
					if from != first || to != second {
						return nil
					}
					select {
					case <-announced:
					default:
						return nil
					}
					select {
					case <-done:
					case <-ctx.Done():
						return ctx.Err()
					}
					time.Sleep(time.Duration(i) * 5 * time.Millisecond)
					return ctx.Err()
				}
				running := b.startAll(b.names)
				time.Sleep(time.Duration(20+i%10*5) * time.Second)
				running[first].mustLeave(t)
				<-announced
				running[second].mustLeave(t)
				b.wait()
				v := b.judge()
				t.Logf("%d pages, %d fetched again", v.Fetched, v.Repeated)
				for _, name := range b.names {
					if r := b.reports[name]; r.State != lifecycle.Finished {
						t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
					}
				}
				if v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}

// An agent joins while another one leaves, and gets hosts of the leaving agent. It asks the leaving agent for pages as
// long as that is there. So nothing is fetched twice.
func TestAgents_oneJoinsWhileAnotherLeaves(t *testing.T) {
	eachSeed(t, 970, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
		b.least = 3
		leaves, late := b.names[0], b.names[3]
		b.hub.onSend = func(ctx context.Context, from, _ string, _ []byte) error {
			if from != leaves {
				return nil
			}
			timer := time.NewTimer(10 * time.Second) // so that leaving takes a while
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		running := b.startAll(b.names[:3])
		time.Sleep(time.Duration(40+3*i) * time.Second)
		running[leaves].mustLeave(t)
		time.Sleep(2 * time.Second)
		joined := time.Now()
		b.start(t.Context(), late)
		<-running[leaves].done
		took := time.Since(joined)
		b.wait()
		requests := b.requests([]string{late}, joined, joined.Add(took))
		v := b.judge()
		t.Logf("%d pages, %d fetched again; the new agent made %d requests in the %v until the other had left",
			v.Fetched, v.Repeated, requests, took)
		wantWhole(t, v, 0)
		if r := b.reports[leaves]; r.State != lifecycle.Finished {
			t.Errorf("%s: %s (%s)", leaves, r.State, r.Reason)
		}
	})
}

// An agent that leaves permanently is killed, and started again where no agent reaches it. So it has no majority, and
// reads its seeds no further. It can still be stopped. When it is reached again it leaves, and the others finish.
func TestAgents_aLeavingAgentWithoutAMajorityCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+1300, simweb.Plain()), 3)
		b.quorum = true
		leaves, others := b.names[:1], b.names[1:]
		running := b.startAll(b.names)
		time.Sleep(25 * time.Second)
		running[leaves[0]].mustLeave(t)
		time.Sleep(300 * time.Millisecond)
		running[leaves[0]].kill(testbed.Sigkill)
		b.hub.setBroken(leaves, others, true)
		b.hub.setBroken(others, leaves, true)
		restarted := b.start(t.Context(), leaves[0])
		time.Sleep(30 * time.Second)
		stopped := time.Now()
		restarted.stop()
		<-restarted.done
		if took := time.Since(stopped); took > 40*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		b.hub.setBroken(leaves, others, false)
		b.hub.setBroken(others, leaves, false)
		b.start(t.Context(), leaves[0])
		b.wait()
		v := b.judge()
		wantWhole(t, v, math.MaxInt)
		if r := b.reports[leaves[0]]; r.State != lifecycle.Finished {
			t.Errorf("%s: %s (%s)", leaves[0], r.State, r.Reason)
		}
	})
}

// A random crawl in which an agent that leaves permanently is started again. Some agents have heard that it leaves;
// some were killed and have forgotten it. With a quorum they once never agreed on a view, in one of four runs.
func TestAgents_aRestartedAgentRepeatsThatItLeaves(t *testing.T) {
	for i := range testbed.Reduce(8, 1) {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("run %d", i+1)
			newChaos(t, 2039, chaosCases[0].faultKinds).run()
		})
	}
}

// Three of five agents leave permanently at the same moment. Each hears that the others leave, though it leaves itself,
// and sends them nothing that they would refuse. That takes seconds, and nothing is fetched twice.
func TestAgents_threeLeaveAtOnce(t *testing.T) {
	eachSeed(t, 960, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 5)
		b.hub.latency = func() time.Duration { return 200 * time.Microsecond }
		running := b.startAll(b.names)
		time.Sleep(time.Duration(8+2*(i%10)) * time.Second)
		began := time.Now()
		for _, name := range b.names[2:] {
			running[name].mustLeave(t)
		}
		for _, name := range b.names[2:] {
			<-running[name].done
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
		b.wait()
		for _, name := range b.names[2:] {
			b.wantLeft(name)
		}
		if v := b.judge(); v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}
