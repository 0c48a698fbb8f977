package invitro

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
)

// One agent comes just as another finds out that the crawl is over, and the third hears of that one first. All end at once: nobody waits for
// those who have ended, to do their work once more.
func TestAgents_oneComesAsTheCrawlEnds(t *testing.T) {
	for i := range bands() {
		seed := *firstSeed + 1100 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, smallWorld(seed, simweb.Plain()), 4)
				b.least = 3
				late := b.names[3]
				var once sync.Once
				over := make(chan struct{})
				b.hub.mute = func(_, _ string, question []byte) bool {
					if question[0] == 'O' {
						once.Do(func() { close(over) })
						time.Sleep(time.Duration(1+i%3) * time.Second)
					}
					return false
				}
				for _, name := range b.names[:3] {
					b.start(t.Context(), name)
				}
				<-over
				came := time.Now()
				b.start(t.Context(), late)
				b.wait()
				v := b.judge()
				took := time.Since(came)
				t.Logf("%d pages, %d asked for again; all ended %v after the last one came", v.Fetched, v.Repeated, took)
				if v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) || took > time.Minute {
					v.Print(t.Output())
					t.Error("the oracle complains, or it took too long")
				}
				for _, name := range b.names {
					states := []engine.State{engine.StateFinished}
					if name == late {
						states = append(states, engine.StateStopped)
					}
					if r := b.reports[name]; !slices.Contains(states, r.State) {
						t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
					}
				}
			})
		})
	}
}
