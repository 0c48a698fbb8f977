//go:build scenario

package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/check/gaps"
	"orbweaver/internal/simweb"
)

// The archives of all agents together prove the gaps of sites, also of those that changed their owner.
func TestPoliteness_theArchivesOfAllAgentsProveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+7300, simweb.Plain()), 3)
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		b.loseAgent(running["agent-1"])
		time.Sleep(40 * time.Second)
		b.start(t.Context(), "agent-1")
		b.wait()
		all := b.gathered()
		r, err := gaps.Audit(t.Context(), all, b.names, gaps.Options{ClockSkew: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != gaps.NotProved || r.Sites.Kept < 50 { // requests went through a proxy
			r.Print(t.Output())
			t.Error("not what several agents prove")
		}
		r, err = gaps.Audit(t.Context(), all, b.names, gaps.Options{ClockSkew: 1, RecordedOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Sites.Kept != r.Sites.Gaps || r.Sites.Kept < 50 {
			r.Print(t.Output())
			t.Error("recorded requests are not proved")
		}
	})
}
