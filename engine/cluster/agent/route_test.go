package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/cluster"
	"orbweaver/internal/urlx"
)

// A fetch worker finds that another agent owns a host. Before it hands the URLs over that agent may be lost, and this
// agent own the host again. Then the URLs pass admission here, also if they had passed it before.
func TestRouter_URLsOfALostOwnerPassAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b")
		a := g.members["a"]
		theirs := a.linksTo("b", 1)
		f := a.parts.Frontier
		f.Cache.Put(urlx.Fingerprint(f.HashSeed, []byte(theirs[0]))) // it was here once
		g.set("b", cluster.AgentDead)
		time.Sleep(time.Second)
		a.route(theirs)
		if n := f.Counters; a.sieve.Pending() != 1 || n.Sieved.Load() != 1 || n.Sent.Load() != 0 {
			t.Errorf("%d pending, %d went to the sieve, %d to others", a.sieve.Pending(), n.Sieved.Load(), n.Sent.Load())
		}
		g.stopAll()
	})
}
