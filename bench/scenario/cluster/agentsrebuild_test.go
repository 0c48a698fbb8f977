//go:build scenario

package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/inspect"
	"orbweaver/engine/layout"
	"orbweaver/engine/rebuild"
)

// rebuild makes the frontier of an agent that does not run anew from its archive, and wants it sound.
func (b *band) rebuild(name string) *rebuild.Result {
	b.t.Helper()
	disk := b.disks[name]
	testbed.RemoveTree(b.t, disk, "crawl/"+layout.FrontierDir)
	cfg := b.config("")
	r, err := engine.Rebuild(b.t.Context(), cfg, b.rig.Seams(disk), rebuild.Options{Agent: ownership.Agent{ID: name, Capacity: 1}})
	if err != nil {
		b.t.Fatal(err)
	}
	found := testbed.FsckReadOnly(b.t, disk)
	testbed.WantSound(b.t, &found)
	cut, err := inspect.Open(disk, "crawl")
	if err != nil {
		b.t.Fatal(err)
	}
	v, err := cut.Cluster()
	if err != nil || v == nil || v.Self.ID != name || areas(&found)["fetched"].Checked == 0 {
		b.t.Errorf("what was rebuilt is no agent that has fetched something: %+v, %v", v, err)
	}
	return r
}

// An agent is killed and its frontier is lost; it is rebuilt from its archive and goes on, before the others miss it or
// after: what others had told it and it had not fetched is told again, what it owed to others is found again, and no
// page is fetched twice but those in flight.
func TestRebuild_anAgentGoesOnAsTheOneThatItWas(t *testing.T) {
	eachSeed(t, 870, func(t *testing.T, i int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		world := testbed.SmallWorld(seed, simweb.Faulty())
		world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = 150, 150, 3, 6 // no host tells all of another
		b := newBand(t, world, 3)
		running := b.startAll(b.names)
		time.Sleep(time.Duration(14+rng.IntN(12)) * time.Second)
		missed := i%2 == 1
		if missed {
			b.bury(running["agent-1"])
			time.Sleep(20 * time.Second)
		} else {
			running["agent-1"].kill(testbed.Sigkill)
		}
		had := b.pages("agent-1")
		if had == 0 {
			t.Fatal("it had nothing: this shows nothing")
		}
		r := b.rebuild("agent-1")
		b.start(t.Context(), "agent-1")
		b.wait()
		v := b.judge()
		again := b.config("").Workers.Fetchers
		if missed {
			again += had // while it was away nobody could know what it had
		}
		retold := int64(0)
		for _, name := range b.names {
			testbed.CheckConservation(t, b.reports[name])
			retold += b.reports[name].Peers.Retold
			found := testbed.Fsck(t, b.disks[name])
			testbed.WantSound(t, &found)
		}
		t.Logf("missed %v: %d captures, %d URLs done and %d queued by its archive; %d retold; %d pages, %d asked for again", missed, had, r.Done, r.Queued, retold, v.Fetched, v.Repeated)
		if v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0 || v.Repeated > again || impolite(v) || retold == 0 {
			testbed.FailVerdict(t, v)
		}
	})
}
