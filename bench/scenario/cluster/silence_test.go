//go:build scenario

package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

// An agent that joins late asks the others what they have of its hosts. While one of them does not answer, the agent
// fetches nothing that this one may have. So no page is stored twice when it answers. If it never answers, the agent
// fetches the pages after a while.
func TestAgents_anAgentDoesNotAnswer(t *testing.T) {
	for i := range seedCount() {
		for _, silence := range []time.Duration{40 * time.Second, 0} { // 0 for ever
			seed := *testbed.FirstSeed + 770 + uint64(i)
			t.Run(fmt.Sprintf("seed %d, %v", seed, silence), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
					b.least = 2
					for _, name := range b.names[:2] {
						b.start(t.Context(), name)
					}
					time.Sleep(time.Duration(30+3*i) * time.Second)
					late, joined := b.names[2], time.Now()
					b.hub.mu.Lock()
					b.hub.staysUnanswered = func(from, to string, question []byte) bool {
						return from == late && to == b.names[i%2] && question[0] == questionFetched &&
							(silence == 0 || time.Since(joined) < silence)
					}
					b.hub.mu.Unlock()
					b.start(t.Context(), late)
					b.wait()
					v := b.judge()
					r := b.final(late)
					t.Logf("virtual time %v; %d pages, %d fetched again; %d questions of the late agent, %d unanswered",
						time.Since(joined), v.Fetched, v.Repeated, r.Cluster.RecoveryRequests, r.Cluster.RecoveryUnanswered)
					if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || impolite(v) || silence > 0 && v.Repeated > 0 {
						testbed.FailVerdict(t, v)
					}
					if r.Cluster.RecoveryUnanswered == 0 || r.State != lifecycle.Finished {
						t.Errorf("%s: %s (%s), %d questions unanswered", late, r.State, r.Reason, r.Cluster.RecoveryUnanswered)
					}
				})
			})
		}
	}
}
