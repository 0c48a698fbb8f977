package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/admission"
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

// What the order of visits knows of a host goes to the agent that owns the host. An agent that does not own it sends it
// on.
func TestDepth_ofAHostGoesToItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := sharedBy(t, "a", "b")
		a, b := g.members["a"], g.members["b"]
		own, theirs := []byte(a.linksTo("a", 1)[0]), []byte(a.linksTo("b", 1)[0])
		for i, host := range [][]byte{own, theirs} {
			a.parts.Order.NoteLeastDepth(host, uint8(4+i))
			a.parts.Journal.Steps.Begin()
			a.GiveDepth(host)
			a.parts.Journal.Steps.End()
		}
		time.Sleep(5 * time.Second)
		if got := b.parts.Order.LeastDepth(theirs); got != 5 || b.parts.Order.LeastDepth(own) != 0 {
			t.Errorf("the owner has heard of depth %d, and of %d of a host of the other one", got,
				b.parts.Order.LeastDepth(own))
		}
		key, _ := urlx.Split(own)
		b.parts.Journal.Steps.Begin()
		err := b.server.items.takeRaw(new(admission.Scratch), message.AppendDepth(nil, key, 2), origin{})
		b.parts.Journal.Steps.End()
		time.Sleep(5 * time.Second)
		if got := a.parts.Order.LeastDepth(own); got != 2 || err != nil || b.parts.Order.LeastDepth(own) != 0 {
			t.Errorf("the owner has heard of depth %d: %v", got, err)
		}
		g.stopAll()
	})
}
