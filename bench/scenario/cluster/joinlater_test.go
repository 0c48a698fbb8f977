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
	"orbweaver/engine/lifecycle"
	"orbweaver/internal/vfs"
)

// Four begin a crawl and two are lost with their disks. Then one comes that was told as well that four begin, new or in
// a dead agent's place: it gets its share, and the crawl comes to its end.
func TestG03_whoComesWhenFewerAreLeftThanBegan(t *testing.T) {
	for _, comer := range []string{"agent-3", "agent-4"} {
		t.Run(comer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newParted(t, *testbed.FirstSeed+905, 4, false)
				running := b.startAll(b.names)
				time.Sleep(30 * time.Second)
				had := b.bury(running["agent-2"])
				had += b.bury(running["agent-3"])
				time.Sleep(20 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				a := b.comes(ctx, comer)
				time.Sleep(5 * time.Second)
				if w := a.report().Waiting; w == waitingForAgents {
					t.Errorf("5 s later it is still %s", w)
				}
				b.finds([]string{"agent-0", "agent-1", comer}, had)
			})
		})
	}
}

// One of four has stopped in good order, and the others keep its hosts for it; who replaces a fourth knows nothing of
// that one, and goes by fewer than they do. After a while it crawls all the same.
func TestG03_whoComesWhenAnotherIsExpectedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newParted(t, *testbed.FirstSeed+906, 4, false)
		running := b.startAll(b.names)
		time.Sleep(20 * time.Second)
		running["agent-1"].stop()
		<-running["agent-1"].done
		had := b.bury(running["agent-3"])
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		a := b.comes(ctx, "agent-3")
		time.Sleep(20 * time.Second)
		if w := a.report().Waiting; w == waitingForAgents {
			t.Errorf("20 s later it is still %s", w)
		}
		b.start(ctx, "agent-1")
		b.finds(b.names, had)
	})
}

// The last of those that begin a crawl sees all the others at once, and begins. They hear of it some seconds later, and
// begin then, with all of them: that one has begun is no reason to begin with fewer, and to move hosts about.
func TestAgents_whoSeesTheOthersLateBeginsWithAllOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newParted(t, *testbed.FirstSeed+907, 4, false)
		b.newsAfter(1, 10*time.Second)
		said := map[string]*bytes.Buffer{}
		b.alter = func(name string, _ *engine.Config, s *engine.Seams) {
			said[name] = new(bytes.Buffer)
			s.Log = slog.New(slog.NewTextHandler(io.MultiWriter(said[name], t.Output()), nil)).With("agent", name)
		}
		for _, name := range b.names[:3] {
			b.start(t.Context(), name)
		}
		time.Sleep(12 * time.Second) // and these have heard of each other
		b.start(t.Context(), b.names[3])
		b.wait()
		for _, name := range b.names {
			if n := strings.Count(said[name].String(), "cluster membership changed"); n != 1 {
				t.Errorf("%s has gone by %d groups of agents", name, n)
			}
		}
		if v := b.judge(); v.Coverage != 1 || v.Overlap != 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
}

// waitingForAgents is what an agent says that does not crawl yet.
const waitingForAgents = "waiting for the other agents"

// comes starts an agent on a disk with nothing on it.
func (b *band) comes(ctx context.Context, name string) *agent {
	b.disks[name] = vfs.NewMem(uint64(len(b.disks)))
	return b.start(ctx, name)
}

// finds waits until all have ended, and says that those who are left have crawled the web whole; had is how many pages
// were lost.
func (b *band) finds(left []string, had int) {
	b.t.Helper()
	b.wait()
	b.names = left
	for _, name := range left {
		if r := b.reports[name]; r.State != lifecycle.Finished || r.PagesStored == 0 {
			b.t.Errorf("%s: %s (%s) after %d pages", name, r.State, r.Reason, r.PagesStored)
		}
	}
	if v := b.judge(); v.Coverage != 1 || impolite(v) || v.Missing > 0 || v.Repeated > had+b.config("").Workers.Fetchers {
		v.Print(b.t.Output())
		b.t.Errorf("the oracle complains; %d pages were lost", had)
	}
}
