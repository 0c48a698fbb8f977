//go:build scenario

package cluster

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
)

// The last of the agents that begin a crawl sees all the others at once, and begins. They hear of it some seconds
// later, and begin then, with all agents. They do not begin with fewer and move hosts, although one agent has begun.
func TestAgents_agentsThatSeeOthersLateBeginWithAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowCluster(t, *testbed.FirstSeed+907, 4, false)
		b.delayGossip(1, 10*time.Second)
		logs := map[string]*bytes.Buffer{}
		b.change = func(name string, _ *engine.Config, s *engine.Seams) {
			logs[name] = new(bytes.Buffer)
			s.Log = slog.New(slog.NewTextHandler(io.MultiWriter(logs[name], t.Output()), nil)).With("agent", name)
		}
		for _, name := range b.names[:3] {
			b.start(t.Context(), name)
		}
		time.Sleep(12 * time.Second) // and these have heard of each other
		b.start(t.Context(), b.names[3])
		b.wait()
		for _, name := range b.names {
			if n := strings.Count(logs[name].String(), "cluster membership changed"); n != 1 {
				t.Errorf("%s has used %d views", name, n)
			}
		}
		if v := b.judge(); v.Coverage != 1 || v.Overlap != 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}
