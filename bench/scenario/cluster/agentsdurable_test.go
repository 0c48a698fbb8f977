package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/captures"
	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/bench/simweb/judge"
	"orbweaver/engine"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/internal/vfs"
)

// An agent that says it has a page has it after a power cut in the next moment, too: who asked does not fetch the page,
// so it would be lost.
func TestAgents_whatAnAgentSaysItHasOutlivesAPowerCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+780, simweb.Plain()), 2)
		b.slowSync = 3 * time.Second
		for _, name := range b.names {
			b.start(t.Context(), name)
		}
		disk, waited, said := b.disks["agent-0"], 0, 0
		for range 8 {
			time.Sleep(4700 * time.Millisecond)
			held := b.held(disk)
			question := []byte{'F'} // see engine/recovery.go
			for _, url := range held {
				question = outbox.AppendItem(question, []byte(url))
			}
			began := time.Now()
			answer, err := b.hub.desks["agent-0"].server.HandleQuestion(t.Context(), "agent-1", question)
			cut := disk.LostClone(0)
			if err != nil || len(answer) != len(held) {
				t.Fatalf("%d answers for %d pages: %v", len(answer), len(held), err)
			}
			if time.Since(began) > 0 {
				waited++
			}
			left := b.afterwards(cut)
			for i, url := range held {
				if answer[i] == 1 {
					said++
					if !left[url] {
						t.Errorf("%s: it is there, an agent said, and after a power cut it is not", url)
					}
				}
			}
		}
		if waited == 0 || said < 50 {
			t.Errorf("%d answers waited, and %d pages were said to be there: this shows nothing", waited, said)
		}
		b.wait()
	})
}

// held are the URLs whose pages an archive holds, whether they are durable or not.
func (b *band) held(disk *vfs.Mem) (urls []string) {
	b.t.Helper()
	if err := captures.Each(disk.KillClone(), "crawl/warc", func(c judge.Capture) { urls = append(urls, c.URL) }); err != nil {
		b.t.Fatal(err)
	}
	return urls
}

// afterwards is what a crawl goes on with that finds its disk like this.
func (b *band) afterwards(disk *vfs.Mem) map[string]bool {
	b.t.Helper()
	seams := b.rig.Seams(disk)
	seams.Peering = newHub().desk("agent-0", 1)
	e, err := engine.Open(b.config(""), seams)
	if err != nil {
		b.t.Fatal(fmt.Errorf("after a power cut: %w", err))
	}
	if err := e.Close(); err != nil {
		b.t.Error(err)
	}
	left := map[string]bool{}
	for _, url := range b.held(disk) {
		left[url] = true
	}
	return left
}
