package ending

import (
	"testing"
	"time"

	"orbweaver/engine/net/politeness"
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
