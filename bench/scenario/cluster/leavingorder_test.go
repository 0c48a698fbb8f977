//go:build scenario

package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

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
		if r := b.final(leaves); r.State != lifecycle.Finished || took > 10*time.Minute {
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
					if r := b.final(name); r.State != lifecycle.Finished {
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
		if r := b.final(leaves); r.State != lifecycle.Finished {
			t.Errorf("%s: %s (%s)", leaves, r.State, r.Reason)
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
