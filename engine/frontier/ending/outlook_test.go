package ending

import (
	"testing"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// A site whose robots.txt redirects to a site that does not answer has not failed itself. It was listed with the
// outcome none, and while the crawl waited for it nothing said that all sites are in trouble.
func TestOutlook_countsSitesThatAwaitTheRobotsOfAnother(t *testing.T) {
	view := workbench.View[site.State]{
		Key: []byte("http://a.test"), State: workbench.Parked, Queued: 3,
	}
	var held Outlook // at the end of a crawl, before any request
	held.Observe(&view, settings.NewLive(politeness.Default(), new(settings.HostRules)), time.Now())
	if held.Failing != 0 {
		t.Errorf("held: %+v", held)
	}
	view.Data.LastExchange = site.MomentOf(time.Now())
	var o Outlook
	o.Observe(&view, settings.NewLive(politeness.Default(), new(settings.HostRules)), time.Now())
	o.Finish(time.Now())
	if o.Failing != 1 || o.FailingURLs != 3 || o.Cause != outcome.RobotsUnreachable.String() {
		t.Errorf("%+v", o)
	}
	if s := describe(&view, time.Now()); s.Outcome != o.Cause {
		t.Errorf("%+v", s)
	}
}

// The longest host is that whose queue takes longest at its delay. A failing site is none: its tries decide.
func TestOutlook_theLongestHostDoesNotFail(t *testing.T) {
	now := time.Now()
	slow, rules := new(filter.HostRules), new(settings.HostRules)
	if _, err := slow.Grow("slow.test host-delay=60s"); err != nil {
		t.Fatal(err)
	}
	rules.Configure(slow)
	policy := politeness.Default()
	policy.HostDelay = 2 * time.Second
	live := settings.NewLive(policy, rules)
	var o Outlook
	for _, v := range []workbench.View[site.State]{
		{Key: []byte("http://large.test"), State: workbench.Waiting, Queued: 100, OnDisk: 1, Due: now.Add(time.Second)},
		{Key: []byte("http://slow.test"), State: workbench.Waiting, Queued: 11, Due: now.Add(5 * time.Second)},
		{Key: []byte("http://dead.test"), State: workbench.Dead, Queued: 9000},
		{Key: []byte("http://failing.test"), State: workbench.Waiting, Queued: 9000, Data: site.State{Failures: 1}},
	} {
		o.Observe(&v, live, now)
	}
	o.Finish(now)
	if o.LongestHost != "http://slow.test" || o.LongestSeconds != 605 || o.SecondsLeast < 605 || o.Sites != 3 {
		t.Errorf("%q takes %v s, all at least %v s, of %d sites", o.LongestHost, o.LongestSeconds, o.SecondsLeast, o.Sites)
	}
}
