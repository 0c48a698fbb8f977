//go:build scenario

package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
)

// While an agent that was stopped is expected back, the others go on with all that is theirs, on whatever addresses:
// who keeps these is somebody else for that time.
func TestAgents_whoIsAwayHoldsUpNobodysAddresses(t *testing.T) {
	for i := range bands() {
		seed := *testbed.FirstSeed + 1600 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
				b.newsAfter(seed, 4*time.Second)
				var all []*agent
				for _, name := range b.names {
					all = append(all, b.start(t.Context(), name))
				}
				time.Sleep(5 * time.Second)
				gone := all[2]
				gone.stop()
				<-gone.done
				time.Sleep(8 * time.Minute)
				for _, a := range all[:2] {
					if r := a.report(); r.URLsQueued > 0 {
						t.Errorf("%s still has %d URLs after eight minutes", a.name, r.URLsQueued)
					}
				}
				b.start(t.Context(), gone.name)
				b.wait()
				v := b.judge()
				if v.Coverage != 1 || v.Repeated > 0 || impolite(v) {
					v.Print(t.Output())
					t.Error("the oracle complains")
				}
			})
		})
	}
}
