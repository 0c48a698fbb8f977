package crawl

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/process"
)

// socketInbox is a service manager that keeps the messages.
type socketInbox struct {
	mu       sync.Mutex
	messages []string
}

// Write takes one message.
func (i *socketInbox) Write(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = append(i.messages, string(b))
	return len(b), nil
}

// take returns the messages since the last call.
func (i *socketInbox) take() (messages []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	messages, i.messages = i.messages, nil
	return messages
}

// signsOfLife counts the messages that keep the watchdog away.
func signsOfLife(messages []string) (n int) {
	for _, m := range messages {
		if strings.Contains(m, "WATCHDOG=1") {
			n++
		}
	}
	return n
}

// scriptedCrawl is a crawl whose report a test sets.
type scriptedCrawl struct {
	mu sync.Mutex
	r  report.Report
}

// Report is part of Crawl.
func (c *scriptedCrawl) Report() report.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r
}

func (c *scriptedCrawl) set(change func(r *report.Report)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.r)
}

const watchdog = 30 * time.Second

// started is a reporter in a bubble of virtual time, with a crawl that takes a checkpoint every 30 s.
func started(ctx context.Context, crawl servedCrawl) (*serviceReporter, *socketInbox) {
	manager := new(socketInbox)
	return startReporter(ctx, serviceOptions{
		Supervisor: process.NewSupervisor(manager, watchdog), Crawl: crawl, Checkpoint: 30 * time.Second,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}), manager
}

// A crawl is ready, lives, stops: each is said once or as long as it is true.
func TestReporter_saysReadyLivesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		crawl := &scriptedCrawl{r: report.Report{State: lifecycle.Running, URLsQueued: 7, Waiting: "politeness"}}
		r, manager := started(ctx, crawl)
		first := manager.take()
		want := "READY=1\nSTATUS=running: 0 pages stored, 7 URLs queued, 0 hosts; politeness"
		if len(first) != 1 || first[0] != want {
			t.Fatalf("%q", first)
		}
		time.Sleep(watchdog + time.Second)
		if got := manager.take(); signsOfLife(got) != 3 || !strings.Contains(got[0], "STATUS=running: ") {
			t.Errorf("in one period: %q", got)
		}
		stop()
		synctest.Wait()
		if got := manager.take(); len(got) != 1 || !strings.HasPrefix(got[0], "STOPPING=1\n") {
			t.Errorf("at the end: %q", got)
		}
		r.Close()
		time.Sleep(time.Minute)
		if got := manager.take(); len(got) != 0 {
			t.Errorf("after the end: %q", got)
		}
	})
}

// A crawl without a checkpoint for ten minutes and two periods gives no more signs of life. With the next one it does.
func TestReporter_aCrawlWithoutCheckpointsIsNotSaidToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crawl := &scriptedCrawl{r: report.Report{State: lifecycle.Running}}
		r, manager := started(t.Context(), crawl)
		defer r.Close()
		for range 100 { // an hour and a half with checkpoints
			time.Sleep(time.Minute)
			crawl.set(func(r *report.Report) { r.Checkpoints++ })
			if signsOfLife(manager.take()) == 0 {
				t.Fatal("a crawl with checkpoints gives no sign of life")
			}
		}
		time.Sleep(10 * time.Minute)
		if signsOfLife(manager.take()) < 20 {
			t.Error("a checkpoint that takes ten minutes is no fault")
		}
		time.Sleep(2 * time.Minute)
		manager.take()
		time.Sleep(time.Hour)
		if got := manager.take(); signsOfLife(got) != 0 || len(got) == 0 {
			t.Errorf("%d signs of life in %d messages", signsOfLife(got), len(got))
		}
		crawl.set(func(r *report.Report) { r.Checkpoints++ })
		time.Sleep(watchdog)
		if signsOfLife(manager.take()) == 0 {
			t.Error("a crawl that goes on gives no sign of life")
		}
	})
}

// A crawl that takes checkpoints but leaves its work alone is not said to live. One that waits for a server, for
// politeness or for other agents lives.
func TestReporter_aCrawlThatLeavesItsWorkIsNotSaidToLive(t *testing.T) {
	for _, c := range []struct {
		what  string
		crawl report.Report
		lives bool
	}{
		{"a site is due and not asked", report.Report{Front: 1, URLsQueued: 5}, false},
		{"a page is not stored", report.Report{URLsInFlight: 1}, false},
		{"a server is slow", report.Report{Front: 3, URLsInFlight: 1, ActiveFetches: 1}, true},
		{"no site is due", report.Report{URLsQueued: 5}, true},
		{"other agents", report.Report{Front: 1, Cluster: new(cluster.StatusReport)}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.crawl.State = lifecycle.Running
			crawl := &scriptedCrawl{r: c.crawl}
			r, manager := started(t.Context(), crawl)
			defer r.Close()
			for range 12 {
				time.Sleep(time.Minute)
				manager.take()
				crawl.set(func(r *report.Report) { r.Checkpoints++ })
			}
			time.Sleep(watchdog)
			if lives := signsOfLife(manager.take()) > 0; lives != c.lives {
				t.Errorf("%s: a sign of life: %v", c.what, lives)
			}
			crawl.set(func(r *report.Report) { r.BytesReceived++ })
			time.Sleep(watchdog)
			if signsOfLife(manager.take()) == 0 {
				t.Errorf("%s: a crawl that goes on gives no sign of life", c.what)
			}
		})
	}
}

// A crawl that is paused, or whose disk is slow, lives, however long that lasts.
func TestReporter_aPauseOrASlowDiskIsNoFault(t *testing.T) {
	for name, r := range map[string]report.Report{
		"paused": {State: lifecycle.Paused}, "slow disk": {State: lifecycle.Running, SyncSeconds: 40},
	} {
		synctest.Test(t, func(t *testing.T) {
			reporter, manager := started(t.Context(), &scriptedCrawl{r: r})
			defer reporter.Close()
			time.Sleep(24 * time.Hour)
			manager.take()
			time.Sleep(watchdog)
			if signsOfLife(manager.take()) == 0 {
				t.Errorf("%s: no sign of life", name)
			}
		})
	}
}

// Without a service manager no goroutine runs.
func TestReporter_withoutAServiceManagerDoesNothing(t *testing.T) {
	none, err := process.FindSupervisor(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	startReporter(t.Context(), serviceOptions{Supervisor: none, Crawl: &scriptedCrawl{}}).Close()
}
