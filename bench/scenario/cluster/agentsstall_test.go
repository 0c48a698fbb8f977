//go:build scenario

package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
)

// Three agents cannot connect to any site any more, while some of them have queued URLs. All stop as stalled, also
// those that have nothing left, and none loses a URL. Started again, they end the crawl together.
func TestStall_ofSeveralAgentsIsAgreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+40, simweb.Plain()), 3)
		var agents []*agent
		for _, name := range b.names {
			agents = append(agents, b.start(t.Context(), name))
		}
		testbed.Wait(25 * time.Second)
		for _, a := range agents {
			a.net.SetProxy(simnet.Refused)
		}
		b.wait()
		var queued int64
		for name, r := range b.reports {
			testbed.CheckConservation(t, r)
			queued += r.URLsQueued
			if r.State != lifecycle.Stalled {
				t.Errorf("%s: %s: %s, %d queued", name, r.State, r.Reason, r.URLsQueued)
			}
		}
		if queued == 0 {
			t.Fatal("nothing was queued when the connections were lost")
		}
		for _, name := range b.names {
			b.start(t.Context(), name)
		}
		b.wait()
		for name, r := range b.reports {
			if r.State != lifecycle.Finished || r.URLsQueued != 0 {
				t.Errorf("resumed: %s: %s: %s %v", name, r.State, r.Reason, r.Outcomes)
			}
		}
		if v := b.judge(); !v.Sound() {
			testbed.FailVerdict(t, v)
		}
	})
}
