package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/peering"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// outageCluster is some agents that crawl a web whose sites fail.
type outageCluster struct {
	web       *testbed.OutageWeb
	hub       *hub
	names     []string
	disks     map[string]*vfs.Mem
	endpoints map[string]*endpoint
}

func newOutageCluster(web *testbed.OutageWeb, agents int) *outageCluster {
	b := &outageCluster{web: web, hub: newHub(), disks: map[string]*vfs.Mem{}, endpoints: map[string]*endpoint{}}
	for i := range agents {
		name := fmt.Sprintf("agent-%d", i)
		b.names = append(b.names, name)
		b.disks[name] = vfs.NewMem(uint64(i))
	}
	return b
}

// crawl lets all agents crawl until they end, and returns their reports and when each ended.
func (b *outageCluster) crawl(
	t *testing.T, during func(),
) (reports map[string]report.Report, ended map[string]time.Time) {
	t.Helper()
	reports, ended = map[string]report.Report{}, map[string]time.Time{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, name := range b.names {
		rig, cfg := b.web.Config(t)
		cfg.Cluster.Agents, cfg.Cluster.Invited = len(b.names), true
		cfg.Fetch.UserAgent = "orbweaver/" + name + " (+https://example.org/bot)"
		seams := rig.Seams(b.disks[name])
		seams.Dialer, seams.Resolver = b.web, b.web
		seams.Allowed = func(netip.AddrPort) error { return nil }
		b.endpoints[name] = b.hub.newEndpoint(name, 1)
		seams.Peering = b.endpoints[name]
		seams.Log = slog.New(slog.NewTextHandler(t.Output(), nil)).With("agent", name)
		e, err := engine.Open(cfg, seams)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			err := e.Run(t.Context())
			at, r := time.Now(), e.Report()
			if err = errors.Join(err, e.Close()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			reports[name], ended[name] = r, at
		})
	}
	if during != nil {
		during()
	}
	wg.Wait()
	b.web.Open.Wait()
	for _, r := range reports {
		testbed.CheckConservation(t, r)
	}
	return reports, ended
}

// apart is the longest time between the ends of two agents.
func apart(ended map[string]time.Time) time.Duration {
	var first, last time.Time
	for _, at := range ended {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return last.Sub(first)
}

// One site fails, and its owner has the only queued URLs; the others have nothing left. All stop as stalled, at one
// time, and none loses a URL. When the site recovers, the same commands end the crawl.
func TestStall_ofOneAgentsSiteEndsTheCluster(t *testing.T) {
	for what, condition := range map[string]testbed.Condition{
		"refuses connections":           {Refused: true},
		"resets connections":            {Reset: true},
		"says 503":                      {Status: 503},
		"asks to slow down":             {Status: 429, Head: "Retry-After: 120\r\n"},
		"asks to come back after a day": {Status: 503, Head: "Retry-After: 86400\r\n"},
	} {
		if testbed.Reduced && condition.Status != 503 { // the others belong to the scenarios
			continue
		}
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hasRecovered := false
				failing := func(site int, since time.Duration) testbed.Condition {
					if site == 0 && since > 25*time.Second && !hasRecovered {
						return condition
					}
					return testbed.Condition{}
				}
				web := &testbed.OutageWeb{Sites: 9, Pages: 12, Condition: failing}
				web.Begin()
				b := newOutageCluster(web, 3)
				reports, ended := b.crawl(t, nil)
				var queued, holders int64
				for name, r := range reports {
					if r.State != lifecycle.Stalled {
						t.Errorf("%s: %s: %s, %d queued", name, r.State, r.Reason, r.URLsQueued)
					}
					if queued += r.URLsQueued; r.URLsQueued > 0 {
						holders++
					}
				}
				if holders != 1 {
					t.Fatalf("%d agents have %d queued URLs: want one", holders, queued)
				}
				if d := apart(ended); d > 10*time.Second {
					t.Errorf("the agents ended %v apart", d)
				}
				if took := time.Since(web.Began); took > 3*time.Hour {
					t.Errorf("it took %v", took)
				}
				hasRecovered = true
				time.Sleep(25 * time.Hour)
				reports, _ = b.crawl(t, nil)
				for name, r := range reports {
					if r.State != lifecycle.Finished || r.URLsQueued != 0 {
						t.Errorf("resumed: %s: %s: %s, %d queued, %v", name, r.State, r.Reason, r.URLsQueued, r.Outcomes)
					}
				}
				if want := web.Sites * web.Pages; len(web.Served) != want {
					t.Errorf("%d pages of %d", len(web.Served), want)
				}
			})
		})
	}
}

// malformedMessage has one item, which is no HTTP URL.
func malformedMessage() []byte {
	item := "L\x00\x00\x01gopher://a.example/"
	return append(binary.AppendUvarint(nil, uint64(len(item))), item...)
}

// One agent bans another, and the third agent does not know of it. The crawl ends all the same, with all agents, before
// the ban ends.
func TestBan_knownByOneAgentDoesNotKeepTheClusterFromEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		healthy := func(int, time.Duration) testbed.Condition { return testbed.Condition{} }
		web := &testbed.OutageWeb{Sites: 9, Pages: 12, Condition: healthy}
		web.Begin()
		b := newOutageCluster(web, 3)
		var bans int
		reports, ended := b.crawl(t, func() {
			time.Sleep(20 * time.Second)
			for range 3 {
				err := b.endpoints["agent-1"].Send(context.WithoutCancel(t.Context()), "agent-0", 0, malformedMessage())
				if errors.Is(err, peering.ErrBanned) {
					bans++
				}
			}
		})
		if bans == 0 {
			t.Fatal("agent-0 has not banned agent-1")
		}
		for name, r := range reports {
			if r.State != lifecycle.Finished || r.URLsQueued != 0 {
				t.Errorf("%s: %s: %s, %d queued", name, r.State, r.Reason, r.URLsQueued)
			}
		}
		if want := web.Sites * web.Pages; len(web.Served) != want {
			t.Errorf("%d pages of %d", len(web.Served), want)
		}
		t.Logf("ended after %v, %v apart", time.Since(web.Began), apart(ended))
		if took := time.Since(web.Began); took > 8*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
