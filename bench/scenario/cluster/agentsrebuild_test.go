//go:build scenario

package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/simweb"
)

// rebuild makes the frontier of a stopped agent again from its archive, and wants it sound.
func (b *testCluster) rebuild(name string) *rebuild.Result {
	b.t.Helper()
	disk := b.disks[name]
	testbed.RemoveTree(b.t, disk, "crawl/"+layout.FrontierDir)
	cfg := b.config("")
	options := rebuild.Options{Agent: ownership.Agent{ID: name, Capacity: 1}}
	r, err := engine.Rebuild(b.t.Context(), cfg, b.rig.Seams(disk), options)
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
		b.t.Errorf("the rebuilt directory is not that of an agent with fetched URLs: %+v, %v", v, err)
	}
	return r
}

// An agent is killed and its frontier is lost. It is rebuilt from its archive and continues, before or after the others
// take it for dead. The others send again what it had not fetched, and it finds the URLs of its backlog again. No page
// is fetched twice except those in flight.
func TestRebuild_anAgentContinuesAfterARebuild(t *testing.T) {
	eachSeed(t, 870, func(t *testing.T, i int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		world := testbed.SmallWorld(seed, simweb.Faulty())
		// no host has links to all pages of another
		world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = 150, 150, 3, 6
		b := newTestCluster(t, world, 3)
		running := b.startAll(b.names)
		time.Sleep(time.Duration(14+rng.IntN(12)) * time.Second)
		wasDead := i%2 == 1
		if wasDead {
			b.loseAgent(running["agent-1"])
			time.Sleep(20 * time.Second)
		} else {
			running["agent-1"].kill(testbed.Sigkill)
		}
		had := b.pages("agent-1")
		if had == 0 {
			t.Fatal("agent-1 has no pages: the test checks nothing")
		}
		r := b.rebuild("agent-1")
		b.start(t.Context(), "agent-1")
		b.wait()
		v := b.judge()
		repeats := b.config("").Workers.Fetchers
		if wasDead {
			repeats += had // the others could not know its pages
		}
		resent := int64(0)
		for _, name := range b.names {
			testbed.CheckConservation(t, b.final(name))
			resent += b.final(name).Cluster.URLsResent
			found := testbed.Fsck(t, b.disks[name])
			testbed.WantSound(t, &found)
		}
		t.Logf("dead %v: %d captures, %d URLs done and %d queued by its archive; %d resent; %d pages, %d fetched again",
			wasDead, had, r.Done, r.Queued, resent, v.Fetched, v.Repeated)
		wantWhole(t, v, repeats)
		if resent == 0 {
			t.Error("no URL was sent again")
		}
	})
}
