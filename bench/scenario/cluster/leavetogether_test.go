//go:build scenario

package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine/lifecycle"
)

// Three of five agents leave for good at the same moment: each hears that the others go, be it going itself, and gives
// nothing to them that they do not take any more. It is a matter of seconds, and nothing is fetched twice.
func TestAgents_threeLeaveAtOnce(t *testing.T) {
	for i := range bands() {
		seed := *testbed.FirstSeed + 960 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 5)
				b.hub.latency = func() time.Duration { return 200 * time.Microsecond }
				running := b.all()
				time.Sleep(time.Duration(8+2*(i%10)) * time.Second)
				began := time.Now()
				for _, name := range b.names[2:] {
					if err := running[name].leave(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range b.names[2:] {
					<-running[name].done
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %v", took)
				}
				b.wait()
				for _, name := range b.names[2:] {
					if r := b.reports[name]; r.State != lifecycle.Finished || r.Reason != "left for good: the other agents have everything" || r.Peers.Waiting != 0 {
						t.Errorf("%s: %s (%s), %d wait", name, r.State, r.Reason, r.Peers.Waiting)
					}
				}
				if v := b.judge(); v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) {
					v.Print(t.Output())
					t.Error("the oracle complains")
				}
			})
		})
	}
}
