//go:build scenario

package cluster

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// Four agents begin a crawl and two are lost with their disks. Then an agent joins, new or under the name of a lost
// one, with the option that four agents begin. It gets its share, and the crawl ends.
func TestG03_anAgentJoinsWhenFewerAreLeftThanBegan(t *testing.T) {
	for _, joining := range []string{"agent-3", "agent-4"} {
		t.Run(joining, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, *testbed.FirstSeed+905, 4, false)
				running := b.startAll(b.names)
				time.Sleep(30 * time.Second)
				had := b.loseAgent(running["agent-2"])
				had += b.loseAgent(running["agent-3"])
				time.Sleep(20 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				a := b.startNew(ctx, joining)
				time.Sleep(5 * time.Second)
				if w := a.report().Waiting; w == waitingForAgents {
					t.Errorf("5 s later it is still %s", w)
				}
				b.wantFinished([]string{"agent-0", "agent-1", joining}, had)
			})
		})
	}
}

// One of four agents has stopped in order, and the others wait for it. A new agent replaces a fourth one, and does not
// know the stopped agent: its view has fewer agents than theirs. After a while it crawls all the same.
func TestG03_anAgentJoinsWhenAnotherIsExpectedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowCluster(t, *testbed.FirstSeed+906, 4, false)
		running := b.startAll(b.names)
		time.Sleep(20 * time.Second)
		running["agent-1"].stop()
		<-running["agent-1"].done
		had := b.loseAgent(running["agent-3"])
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		a := b.startNew(ctx, "agent-3")
		time.Sleep(20 * time.Second)
		if w := a.report().Waiting; w == waitingForAgents {
			t.Errorf("20 s later it is still %s", w)
		}
		b.start(ctx, "agent-1")
		b.wantFinished(b.names, had)
	})
}

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

// waitingForAgents is the pause reason of an agent that does not crawl yet.
const waitingForAgents = "waiting for the other agents"

// startNew starts an agent on an empty disk.
func (b *testCluster) startNew(ctx context.Context, name string) *agent {
	b.disks[name] = vfs.NewMem(uint64(len(b.disks)))
	return b.start(ctx, name)
}

// wantFinished waits until all agents have ended, and wants the remaining agents to have crawled the whole web. lost is
// how many pages were lost.
func (b *testCluster) wantFinished(remaining []string, lost int) {
	b.t.Helper()
	b.wait()
	b.names = remaining
	for _, name := range remaining {
		if r := b.reports[name]; r.State != lifecycle.Finished || r.PagesStored == 0 {
			b.t.Errorf("%s: %s (%s) after %d pages", name, r.State, r.Reason, r.PagesStored)
		}
	}
	if v := b.judge(); v.Coverage != 1 || impolite(v) || v.Missing > 0 ||
		v.Repeated > lost+b.config("").Workers.Fetchers {
		b.t.Logf("%d pages were lost", lost)
		testbed.FailVerdict(b.t, v)
	}
}
