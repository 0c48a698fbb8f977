//go:build scenario

package cluster

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine/lifecycle"
)

// One comes while another leaves, and gets hosts that this one had: nobody counts on that one any more, but it is asked
// what it has, as long as it is there. So nothing is fetched twice.
func TestAgents_oneComesWhileAnotherLeaves(t *testing.T) {
	for i := range bands() {
		seed := *testbed.FirstSeed + 970 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
				b.least = 3
				leaves, late := b.names[0], b.names[3]
				b.hub.way = func(ctx context.Context, from, _ string, _ []byte) error {
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
				running := map[string]*agent{}
				for _, name := range b.names[:3] {
					running[name] = b.start(t.Context(), name)
				}
				time.Sleep(time.Duration(40+3*i) * time.Second)
				if err := running[leaves].leave(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				came := time.Now()
				b.start(t.Context(), late)
				<-running[leaves].done
				took := time.Since(came)
				b.wait()
				asked := b.requests([]string{late}, came, came.Add(took))
				v := b.judge()
				t.Logf("%d pages, %d asked for again; the one that came asked for %d in the %v until the other had left", v.Fetched, v.Repeated, asked, took)
				if r := b.reports[leaves]; r.State != lifecycle.Finished || v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) {
					v.Print(t.Output())
					t.Errorf("the oracle complains; %s: %s (%s)", leaves, r.State, r.Reason)
				}
			})
		})
	}
}
