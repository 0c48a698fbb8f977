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
	"orbweaver/bench/simweb"
	"orbweaver/engine/lifecycle"
)

// Two agents leave for good. What the first gives to the second, of which it does not know yet that it leaves, arrives
// when that one has told the others that it has nothing left: it is given away once more, or not taken, and nothing is
// lost.
func TestAgents_aLetterComesToOneThatHasNothingLeft(t *testing.T) {
	for i := range 4 * bands() {
		seed := *testbed.FirstSeed + 1200 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
				b.least = 3
				first, second := b.names[2], b.names[0]
				going, gone := make(chan struct{}), make(chan struct{})
				var goes, goneBy sync.Once
				b.hub.mute = func(from, to string, question []byte) bool {
					switch {
					case from == first && to == second && question[0] == 'G' && question[1] == 1:
						goes.Do(func() { close(going) })
					case from == second && question[0] == 'G' && question[1] == 2:
						goneBy.Do(func() { close(gone) })
					}
					return false
				}
				b.hub.way = func(ctx context.Context, from, to string, _ []byte) error {
					if from != first || to != second {
						return nil
					}
					select {
					case <-going:
					default:
						return nil
					}
					select {
					case <-gone:
					case <-ctx.Done():
						return ctx.Err()
					}
					time.Sleep(time.Duration(i) * 5 * time.Millisecond)
					return ctx.Err()
				}
				running := map[string]*agent{}
				for _, name := range b.names {
					running[name] = b.start(t.Context(), name)
				}
				time.Sleep(time.Duration(20+i%10*5) * time.Second)
				if err := running[first].leave(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-going
				if err := running[second].leave(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.wait()
				v := b.judge()
				t.Logf("%d pages, %d asked for again", v.Fetched, v.Repeated)
				for _, name := range b.names {
					if r := b.reports[name]; r.State != lifecycle.Finished {
						t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
					}
				}
				if v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) {
					v.Print(t.Output())
					t.Error("the oracle complains")
				}
			})
		})
	}
}
