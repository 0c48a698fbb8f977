//go:build scenario

package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine/lifecycle"
)

// One that leaves for good is killed, and started again where nobody reaches it, so that it has no majority and reads
// its seeds no further. It can be stopped all the same; and when it is reached again it leaves, and the others finish.
func TestAgents_whoLeavesAndHasNoMajorityCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+1300, simweb.Plain()), 3)
		b.quorum = true
		leaves, others := b.names[:1], b.names[1:]
		running := map[string]*agent{}
		for _, name := range b.names {
			running[name] = b.start(t.Context(), name)
		}
		time.Sleep(25 * time.Second)
		if err := running[leaves[0]].leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		running[leaves[0]].kill(testbed.Sigkill)
		b.hub.sever(leaves, others, true)
		b.hub.sever(others, leaves, true)
		again := b.start(t.Context(), leaves[0])
		time.Sleep(30 * time.Second)
		stopped := time.Now()
		again.stop()
		<-again.done
		if took := time.Since(stopped); took > 40*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		b.hub.sever(leaves, others, false)
		b.hub.sever(others, leaves, false)
		b.start(t.Context(), leaves[0])
		b.wait()
		v := b.judge()
		if r := b.reports[leaves[0]]; r.State != lifecycle.Finished || v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || impolite(v) {
			v.Print(t.Output())
			t.Errorf("the oracle complains; %s: %s (%s)", leaves[0], r.State, r.Reason)
		}
	})
}

// A random story in which one that leaves for good is started again among some who have heard that it leaves, and some
// who were killed and have forgotten it: with a quorum they agreed on nothing, for ever, in one of four goes.
func TestAgents_whoLeavesAndIsStartedAgainTellsThoseWhoHaveForgotten(t *testing.T) {
	_, everything := stories(0)
	for i := range testbed.Reduce(8, 1) {
		synctest.Test(t, func(t *testing.T) {
			t.Logf("go %d", i+1)
			newChaos(t, 2039, everything).tell()
		})
	}
}
