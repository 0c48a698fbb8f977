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

// An agent that comes late asks the others what they have of its hosts. As long as one that is there does not answer,
// nothing of that is fetched: so no page is there twice when it does. One that never does is not waited for for ever.
func TestAgents_noAnswerIsWaitedFor(t *testing.T) {
	for i := range bands() {
		for _, lasts := range []time.Duration{40 * time.Second, 0} {
			seed := *testbed.FirstSeed + 770 + uint64(i)
			t.Run(fmt.Sprintf("seed %d, %v", seed, lasts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
					b.least = 2
					for _, name := range b.names[:2] {
						b.start(t.Context(), name)
					}
					time.Sleep(time.Duration(30+3*i) * time.Second)
					late, came := b.names[2], time.Now()
					b.hub.mu.Lock()
					b.hub.mute = func(from, to string, question []byte) bool {
						return from == late && to == b.names[i%2] && question[0] == questionFetched && (lasts == 0 || time.Since(came) < lasts)
					}
					b.hub.mu.Unlock()
					b.start(t.Context(), late)
					b.wait()
					v := b.judge()
					r := b.reports[late]
					t.Logf("virtual time %v; %d pages, %d asked for again; %d questions of the one that came late, %d unanswered", time.Since(came), v.Fetched, v.Repeated, r.Peers.Asked, r.Peers.Unanswered)
					if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || impolite(v) || lasts > 0 && v.Repeated > 0 || r.Peers.Unanswered == 0 || r.State != lifecycle.Finished {
						testbed.FailVerdict(t, v)
					}
				})
			})
		}
	}
}
