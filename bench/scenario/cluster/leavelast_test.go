//go:build scenario

package cluster

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine/lifecycle"
)

// One comes in the last moment of another's leaving: that one never hears of it, and it sees that one, and then that it
// has gone in good order, as an agent goes that is stopped. The others tell it that this one has left for good, so that
// nobody waits for it, and nothing is fetched twice.
func TestAgents_oneComesInTheLastMomentOfAnother(t *testing.T) {
	for i := range bands() {
		seed := *testbed.FirstSeed + 1000 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
				b.least = 3
				leaves, late := b.names[0], b.names[3]
				gone := make(chan struct{})
				var once sync.Once
				b.hub.mute = func(from, _ string, question []byte) bool {
					if from == leaves && question[0] == 'G' && question[1] == 2 {
						once.Do(func() { close(gone) })
					}
					return false
				}
				began := time.Now()
				running := map[string]*agent{}
				for _, name := range b.names[:3] {
					running[name] = b.start(t.Context(), name)
				}
				time.Sleep(time.Duration(30+5*(i%8)) * time.Second)
				b.hub.mu.Lock()
				b.hub.gossip = func() time.Duration { return 2 * time.Second } // nobody hears at once of anybody
				b.hub.mu.Unlock()
				if err := running[leaves].leave(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-gone
				b.start(t.Context(), late)
				b.wait()
				v := b.judge()
				took := time.Since(began)
				t.Logf("%d pages, %d asked for again, in %v", v.Fetched, v.Repeated, took)
				if r := b.reports[leaves]; r.State != lifecycle.Finished || v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) || took > 10*time.Minute {
					v.Print(t.Output())
					t.Errorf("the oracle complains, or it took too long; %s: %s (%s)", leaves, r.State, r.Reason)
				}
			})
		})
	}
}
