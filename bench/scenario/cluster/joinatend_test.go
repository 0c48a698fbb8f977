//go:build scenario

package cluster

import (
	"slices"
	"sync"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

// An agent joins just as another one finds out that the crawl is over. All end at once, and no agent waits for agents
// that have ended, to do their work once more. If the others do not hear of it before they have ended, it asks them.
func TestAgents_oneJoinsAsTheCrawlEnds(t *testing.T) {
	for name, isHeard := range map[string]bool{"the others hear of it": true, "the others do not hear of it": false} {
		t.Run(name, func(t *testing.T) { joinAtTheEnd(t, isHeard) })
	}
}

// joinAtTheEnd lets an agent join. The others hear of it within a second, or too late.
func joinAtTheEnd(t *testing.T, isHeard bool) {
	t.Helper()
	eachSeed(t, 1100, func(t *testing.T, i int, seed uint64) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
		b.least = 3
		late := b.names[3]
		var once sync.Once
		ended := make(chan struct{})
		b.hub.staysUnanswered = func(_, _ string, question []byte) bool {
			if question[0] == 'O' {
				once.Do(func() { close(ended) })
				time.Sleep(time.Duration(1+i%3) * time.Second)
			}
			return false
		}
		for _, name := range b.names[:3] {
			b.start(t.Context(), name)
		}
		<-ended
		joined := time.Now()
		if !isHeard {
			b.hub.mu.Lock()
			b.hub.gossip = func() time.Duration { return 10 * time.Second }
			b.hub.mu.Unlock()
		}
		b.start(t.Context(), late)
		b.wait()
		v := b.judge()
		took := time.Since(joined)
		t.Logf("%d pages, %d fetched again; all ended %v after the last agent joined", v.Fetched, v.Repeated, took)
		if v.Coverage != 1 || v.Missing > 0 || v.Repeated > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
		if took > time.Minute {
			t.Errorf("it took %v", took)
		}
		for _, name := range b.names {
			states := []lifecycle.State{lifecycle.Finished}
			if name == late {
				states = append(states, lifecycle.Stopped)
			}
			if r := b.final(name); !slices.Contains(states, r.State) {
				t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
			}
		}
	})
}
