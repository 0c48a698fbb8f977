//go:build scenario

package cluster

import (
	"slices"
	"sync"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/lifecycle"
)

// One agent comes just as another finds out that the crawl is over, and the third hears of that one first. All end at
// once: nobody waits for those who have ended, to do their work once more.
func TestAgents_oneComesAsTheCrawlEnds(t *testing.T) { comesAtTheEnd(t, true) }

// The same if the others do not hear of it before they have ended: it asks them.
func TestAgents_oneComesAsTheCrawlEndsAndNobodyHearsOfIt(t *testing.T) {
	comesAtTheEnd(t, false)
}

// comesAtTheEnd has one come whom the others hear of within a second, or too late.
func comesAtTheEnd(t *testing.T, heard bool) {
	eachSeed(t, 1100, func(t *testing.T, i int, seed uint64) {
		b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
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
		if !heard {
			b.hub.mu.Lock()
			b.hub.gossip = func() time.Duration { return 10 * time.Second }
			b.hub.mu.Unlock()
		}
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
			states := []lifecycle.State{lifecycle.Finished}
			if name == late {
				states = append(states, lifecycle.Stopped)
			}
			if r := b.reports[name]; !slices.Contains(states, r.State) {
				t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
			}
		}
	})
}

// All others stop in the moment in which one comes that was told of them. It finds nobody and begins alone, and leaves
// each host alone until whoever asked it last is forgotten.
func TestAgents_oneComesWhenTheOthersHaveJustStopped(t *testing.T) {
	eachSeed(t, 1120, func(t *testing.T, i int, seed uint64) {
		b := newBand(t, testbed.SmallWorld(seed, simweb.Plain()), 3)
		b.least = 2
		late := b.names[2]
		b.alter = func(name string, c *engine.Config, _ *engine.Seams) {
			if name == late {
				c.Cluster.Agents = 1
			}
		}
		one, other := b.start(t.Context(), b.names[0]), b.start(t.Context(), b.names[1])
		time.Sleep(time.Duration(10+i) * time.Second)
		one.stop()
		other.stop()
		<-one.done
		<-other.done
		before := b.rig.Log.Len()
		b.start(t.Context(), late)
		time.Sleep(9 * time.Second)
		if n := b.rig.Log.Len() - before; n > 0 {
			t.Errorf("%d requests in the first seconds", n)
		}
		b.wait()
		if v := b.judge(); impolite(v) || v.Coverage != 1 || v.Missing > 0 || before == 0 {
			v.Print(t.Output())
			t.Errorf("%d requests by those who stopped", before)
		}
	})
}
