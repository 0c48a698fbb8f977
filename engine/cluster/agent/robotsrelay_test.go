package agent

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/vfs"
)

// relayed is an agent with its relay, and what its sites were given.
type relayed struct {
	*relay
	outbox    *outbox.Outbox
	results   []string // "site unreachable" or "site rules"
	redirects []string // "site <- origin"
}

func (r *relayed) DeliverRobots(result *site.RobotsResult) error {
	what := " rules"
	if result.Unreachable {
		what = " unreachable"
	}
	r.results = append(r.results, string(result.Site)+what)
	return nil
}

func (r *relayed) SettleRobots(result *site.RobotsResult) error {
	if !r.SendResult(result) {
		return r.DeliverRobots(result)
	}
	return nil
}

func (r *relayed) RedirectRobots(redirect *site.RobotsRedirect) error {
	r.redirects = append(r.redirects, string(redirect.Site)+" <- "+string(redirect.Origin))
	return nil
}

// items are the items that wait for another agent.
func (r *relayed) items(t *testing.T, to string) []message.Item {
	t.Helper()
	batch, err := r.outbox.TakeBatch(to)
	if err != nil {
		t.Fatal(err)
	}
	if batch == nil {
		return nil
	}
	items, err := message.Read(message.WithAges(batch.Bytes, time.Now()), r.rules)
	if err != nil {
		t.Fatal(err)
	}
	r.outbox.Acknowledge(batch)
	return items
}

// newRelayed is an agent of two, which excludes some site.
func newRelayed(t *testing.T, self string, excluded string) (r *relayed, v *ownership.View) {
	t.Helper()
	agents := []ownership.Agent{{ID: "a1", Capacity: 1, Store: 1}, {ID: "a2", Capacity: 1, Store: 2}}
	v, err := ownership.NewView(ownership.Consistent, agents, nil, 0, self)
	if err != nil {
		t.Fatal(err)
	}
	box, err := outbox.Open(vfs.NewMem(1), outbox.Options{Dir: "outbox"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		if _, err := box.EnsureAgent(a.Instance()); err != nil {
			t.Fatal(err)
		}
	}
	views := ownership.NewTimeline(0)
	views.Store(v)
	r = &relayed{outbox: box}
	r.relay = &relay{
		views: views, outbox: box, sites: r, rules: site.NewRulesPool(0), steps: new(atomic.Int64),
		isExcluded: func(site []byte) bool { return string(site) == excluded },
	}
	return r, v
}

// siteOf is a site that this agent owns, or does not.
func siteOf(v *ownership.View, own bool) string {
	for i := 0; ; i++ {
		if site := fmt.Sprintf("http://h%d.test", i); v.Owns([]byte(site)) == own {
			return site
		}
	}
}

// redirectTo is a redirect of the robots.txt of a site to another site.
func redirectTo(origin, target string) *site.RobotsRedirect {
	it := queued.URL{RobotsOf: []byte(origin), Rest: []byte("/robots.txt")}
	return &site.RobotsRedirect{Origin: []byte(origin), Site: []byte(target), Item: queued.Append(nil, &it)}
}

// A redirect to a host of another agent goes there, and the rules come back to the site that waits. A redirect to an
// own host stays here.
func TestRelay_thereAndBack(t *testing.T) {
	first, v := newRelayed(t, "a1", "")
	second, _ := newRelayed(t, "a2", "")
	own, theirs := siteOf(v, true), siteOf(v, false)
	if first.SendRedirect(redirectTo(own, own)) || first.AwaitsRobots() {
		t.Error("a redirect to an own host is sent away")
	}
	if !first.SendRedirect(redirectTo(own, theirs)) || first.AskedAgent([]byte(own)) != "a2" || !first.AwaitsRobots() {
		t.Errorf("%q was asked", first.AskedAgent([]byte(own)))
	}
	for _, item := range first.items(t, "a2/0000000000000002") {
		if err := second.TakeRedirect(item.URL); err != nil {
			t.Fatal(err)
		}
	}
	if want := theirs + " <- " + own; len(second.redirects) != 1 || second.redirects[0] != want {
		t.Errorf("it arrives as %q, want %q", second.redirects, want)
	}
	if !second.SendResult(&site.RobotsResult{Site: []byte(own), Rules: robots.AllowAll()}) {
		t.Error("the result stays at the agent that fetched it")
	}
	for _, item := range second.items(t, "a1/0000000000000001") {
		if err := first.TakeResult(item.Robots, 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(first.results) != 1 || first.results[0] != own+" rules" || first.AwaitsRobots() {
		t.Errorf("%q; waits: %v", first.results, first.AwaitsRobots())
	}
}

// A site whose result does not arrive is given up after two minutes, and rules that are a day old are none.
func TestRelay_lateResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, v := newRelayed(t, "a1", "")
		own := siteOf(v, true)
		r.SendRedirect(redirectTo(own, siteOf(v, false)))
		for _, wait := range []time.Duration{waitMax - 1, 1 + checkPeriod} {
			time.Sleep(wait)
			if len(r.results) > 0 {
				t.Errorf("given up too early: %q", r.results)
			}
			if err := r.GiveUpOverdue(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.results) != 1 || r.results[0] != own+" unreachable" || r.AwaitsRobots() {
			t.Errorf("%q; waits: %v", r.results, r.AwaitsRobots())
		}
		old := &site.RobotsResult{Site: []byte(own), Rules: robots.AllowAll()}
		if err := r.TakeResult(old, site.RobotsLifetime); err != nil || r.results[1] != own+" unreachable" {
			t.Errorf("a day old: %q, %v", r.results, err)
		}
	})
}

// A redirect to a site that the operator excludes ends as unreachable, at the owner of the site that waits.
func TestRelay_excludedTarget(t *testing.T) {
	first, v := newRelayed(t, "a1", "")
	own, theirs := siteOf(v, true), siteOf(v, false)
	second, _ := newRelayed(t, "a2", theirs)
	first.SendRedirect(redirectTo(own, theirs))
	for _, item := range first.items(t, "a2/0000000000000002") {
		if err := second.TakeRedirect(item.URL); err != nil {
			t.Fatal(err)
		}
	}
	if items := second.items(t, "a1/0000000000000001"); len(items) != 1 || len(second.redirects) != 0 {
		t.Errorf("%d items go back, %q is fetched", len(items), second.redirects)
	}
	first.Forget([]byte(own))
	if first.AwaitsRobots() {
		t.Error("a site that went away waits still")
	}
}
