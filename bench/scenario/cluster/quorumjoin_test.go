//go:build scenario

package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// Four agents begin a crawl, and two are lost permanently. Then a new agent joins with the option that four agents
// begin. It does not wait for a fourth one, and the others do not wait for its hosts.
func TestQuorum_anAgentJoinsWhenFewerAreLeftThanBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowCluster(t, *testbed.FirstSeed+899, 4, true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		running := map[string]*agent{}
		for _, name := range b.names {
			running[name] = b.start(ctx, name)
		}
		time.Sleep(30 * time.Second)
		for _, name := range b.names[2:] {
			b.loseAgent(running[name])
			time.Sleep(40 * time.Second)
		}
		b.names = append(b.names[:2:2], "agent-4")
		b.disks["agent-4"] = vfs.NewMem(4)
		b.start(ctx, "agent-4")
		b.wait()
		for _, name := range b.names {
			if r := b.reports[name]; r.State != lifecycle.Finished || r.PagesStored == 0 {
				t.Errorf("%s: %s (%s) after %d pages", name, r.State, r.Reason, r.PagesStored)
			}
		}
		if v := b.judge(); v.Coverage != 1 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}
