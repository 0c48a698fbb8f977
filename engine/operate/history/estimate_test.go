package history

import (
	"slices"
	"testing"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
)

// queueOf is a history of so many seconds before epoch, at which a queue that grows by so many URLs a second has 3,600.
func queueOf(seconds, growth int64) *History {
	h := New()
	for ago := seconds; ago > 0; ago-- {
		row := sampleOf(0)
		row[slices.Index(Names(), "urls_queued")] = float32(3600 - growth*ago)
		h.Add(epoch-ago, row)
	}
	return h
}

// The site whose queue takes longest decides, if that is longer than the queue of the crawl takes as it shrinks.
// Failing sites decide if they are waited for, and without a time for that there is no estimate.
func TestEstimate_whichSitesDecide(t *testing.T) {
	long := ending.Outlook{Sites: 9, URLs: 3600, LongestHost: "http://a.test", LongestSeconds: 7300, SecondsLeast: 7300}
	short := long
	short.LongestSeconds, short.SecondsLeast = 1000, 1000
	failing := short
	failing.Failing, failing.FailingURLs, failing.Cause, failing.CauseSites = 2, 10, "unavailable", 2
	failing.GiveUpFirst, failing.GiveUpLast, failing.SecondsLeast = "2026-11-28T10:00:00Z", "2026-11-30T10:00:00Z", 190_000
	endless := failing
	endless.FailingURLs, endless.GiveUpFirst, endless.GiveUpLast, endless.SecondsLeast = 3000, "", "", 1000
	shrinks := "the queue is empty in about 30 min, if it shrinks as in the last 30s"
	grows := "no end in sight: the queue grows by 120 URLs a minute, over the last 30s"
	for name, c := range map[string]struct {
		state    lifecycle.State
		growth   int64
		outlook  *ending.Outlook
		sentence string
		seconds  float64
		isKnown  bool
	}{
		"no outlook":      {lifecycle.Running, -2, nil, shrinks, 1800, true},
		"the whole queue": {lifecycle.Running, -2, &short, shrinks, 1800, true},
		"the longest host": {
			lifecycle.Running, -2, &long,
			"the queue is empty in 2 h 1 min at the soonest: so long takes the queue of http://a.test at its delay", 7300, true,
		},
		"a long host, and a queue that grows": {lifecycle.Running, 2, &long, grows, 0, true},
		"failing sites": {
			lifecycle.Running, -2, &failing, "the queue is empty in about 2 d 4 h: " + failing.String(), 190_000, true,
		},
		"failing sites, without an end": {
			lifecycle.Running, -2, &endless, "no estimate: " + endless.String(), 0, false,
		},
		"the limit of pages": {
			lifecycle.Running, -2, &long, "no estimate: --max-pages is reached, and page requisites are left", 0, false,
		},
		"a pause": {lifecycle.Paused, -2, &long, "no estimate: the crawl is paused", 0, false},
	} {
		r := report.Report{
			State: c.state, URLsQueued: 3600, Outlook: c.outlook, OnlyRequisites: name == "the limit of pages",
		}
		e := queueOf(120, c.growth).estimate(&r, epoch)
		if e.Sentence != c.sentence || e.Seconds != c.seconds || (e.Known() != nil) != c.isKnown {
			t.Errorf("%s: %q, %v s, known: %v", name, e.Sentence, e.Seconds, e.Known() != nil)
		}
	}
	both := queueOf(120, -2).estimate(&report.Report{State: lifecycle.Running, URLsQueued: 3600, Outlook: &failing}, epoch)
	if about := both.Beside(failing.String() + "; next try in 5m"); about != "the queue is empty in about 2 d 4 h" {
		t.Errorf("beside its reason: %q", about)
	}
	if about := both.Beside("politeness"); about != both.Sentence {
		t.Errorf("beside another reason: %q", about)
	}
	young := queueOf(20, -2).estimate(&report.Report{State: lifecycle.Running, URLsQueued: 3600, Outlook: &long}, epoch)
	empty := queueOf(120, -2).estimate(&report.Report{State: lifecycle.Running}, epoch)
	if young.Known() != nil || empty.Known() != nil {
		t.Errorf("%q, %q", young.Sentence, empty.Sentence)
	}
}
