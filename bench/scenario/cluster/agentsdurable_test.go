package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/peering/outbox"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// An agent that answers that it has a page still has it after a power cut in the next moment. The agent that asked does
// not fetch the page, so it would be lost.
func TestAgents_anAnsweredPageSurvivesAPowerCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+780, simweb.Plain()), 2)
		b.slowSync = 3 * time.Second
		for _, name := range b.names {
			b.start(t.Context(), name)
		}
		disk, waits, answered := b.disks["agent-0"], 0, 0
		for range 8 {
			time.Sleep(4700 * time.Millisecond)
			held := b.held(disk)
			question := []byte{questionFetched}
			for _, url := range held {
				question = outbox.AppendItem(question, []byte(url))
			}
			began := time.Now()
			answer, err := b.hub.endpoints["agent-0"].server.HandleQuestion(t.Context(), "agent-1", question)
			cut := disk.LostClone(0)
			if err != nil || len(answer) != len(held) {
				t.Fatalf("%d answers for %d pages: %v", len(answer), len(held), err)
			}
			if time.Since(began) > 0 {
				waits++
			}
			durable := b.afterwards(cut)
			for i, url := range held {
				if answer[i] == 1 {
					answered++
					if !durable[url] {
						t.Errorf("%s: the agent answered that it has the page, and after a power cut it has not", url)
					}
				}
			}
		}
		if waits == 0 || answered < 50 {
			t.Errorf("%d answers waited, and %d pages were there: the test checks nothing", waits, answered)
		}
		b.wait()
	})
}

// held are the URLs of the captures of an archive, durable or not.
func (b *testCluster) held(disk *vfs.Mem) (urls []string) {
	b.t.Helper()
	err := captures.Each(disk.KillClone(), "crawl/warc", func(c judge.Capture) { urls = append(urls, c.URL) })
	if err != nil {
		b.t.Fatal(err)
	}
	return urls
}

// afterwards are the URLs of the captures of a crawl that resumes from a disk.
func (b *testCluster) afterwards(disk *vfs.Mem) map[string]bool {
	b.t.Helper()
	seams := b.rig.Seams(disk)
	seams.Peering = newHub().newEndpoint("agent-0", 1)
	e, err := engine.Open(b.config(""), seams)
	if err != nil {
		b.t.Fatal(fmt.Errorf("after a power cut: %w", err))
	}
	if err := e.Close(); err != nil {
		b.t.Error(err)
	}
	durable := map[string]bool{}
	for _, url := range b.held(disk) {
		durable[url] = true
	}
	return durable
}
