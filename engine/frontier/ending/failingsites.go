package ending

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/plural"
	"orbweaver/workbench"
)

// FailingSites describes a crawl whose queued URLs are all of sites that fail or ask to slow down: what it waits for,
// or why it has stalled.
type FailingSites struct {
	Sites    int           `json:"count"`               // with queued URLs
	URLs     int64         `json:"urls"`                // queued for them
	NextTry  string        `json:"next_try,omitempty"`  // when the first of them is asked again
	StallsAt string        `json:"stalls_at,omitempty"` // when the crawl stops as stalled, if no site answers before
	List     []FailingSite `json:"list,omitempty"`      // of a stalled crawl: the first 100 sites
	Largest  *FailingSite  `json:"largest,omitempty"`   // while the crawl waits: the site with the most URLs
	// NeverAnswered: none of the sites has ever answered: each is given up after its tries.
	NeverAnswered bool `json:"never_answered,omitempty"`
	// GiveUpLast is when the last of the sites is given up, if none answers before.
	GiveUpLast string `json:"give_up_last,omitempty"`
}

// FailingSite is a site with queued URLs that fails or asks to slow down.
type FailingSite struct {
	Site         string `json:"site"`
	Outcome      string `json:"outcome"`                 // outcome of the last attempt
	FailingSince string `json:"failing_since,omitempty"` // first failure after the last answer
	NextTry      string `json:"next_try,omitempty"`      // no earlier
	URLs         uint64 `json:"urls"`
}

const (
	troubleListed = 100 // sites in the report
	troubleLogged = 10  // sites in the log
)

// Reporter describes what a crawl waits for. Safe for concurrent use.
type Reporter struct {
	workbench *visit.Workbench
	stall     *StallDetector

	last atomic.Pointer[FailingSites] // why the crawl has stalled; nil if it has not

	// What the last scan of all sites found: reports come more often than a scan may cost.
	mu       sync.Mutex
	nextScan time.Time // the sites are not scanned before this time
	outlook  *Outlook
}

// NewReporter returns a Reporter for the crawl of a StallDetector.
func NewReporter(w *visit.Workbench, stall *StallDetector) *Reporter {
	return &Reporter{workbench: w, stall: stall, outlook: new(Outlook)}
}

// Current returns what the crawl waits for; nil unless all queued URLs are of sites that fail. It says of them what the
// Outlook says. queued is the number of queued URLs: some may be on no site yet.
func (r *Reporter) Current(queued int64) *FailingSites {
	ends, o := r.stall.EndsAt(), r.Outlook(time.Now())
	if ends.IsZero() || o.Failing == 0 || o.Failing < o.Sites || int64(o.FailingURLs) < queued {
		return nil
	}
	return &FailingSites{
		Sites: o.Failing, URLs: queued, NextTry: o.NextTry, StallsAt: timestamp(ends), Largest: o.failing.largest,
		NeverAnswered: !o.failing.hasAnswered, GiveUpLast: o.GiveUpLast,
	}
}

// Outlook returns what the sites with queued URLs say about the rest of the crawl, as of a moment ago.
func (r *Reporter) Outlook(now time.Time) *Outlook {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.nextScan) {
		return r.outlook
	}
	began := time.Now()
	r.outlook = new(Outlook)
	r.eachSite(func(v *workbench.View[site.State]) { r.outlook.Observe(v, r.stall.live, now) })
	r.outlook.noneAnswers(r.stall.GivesUpAt())
	r.outlook.Finish(now)
	r.nextScan = now.Add(max(scanPause, scanShare*time.Since(began)))
	return r.outlook
}

// eachSite calls f with each site on the workbench.
func (r *Reporter) eachSite(f func(v *workbench.View[site.State])) {
	var views []workbench.View[site.State]
	var keys []byte
	for from := uint64(1); from != 0; {
		views, keys, from = r.workbench.Listing().Views(from, views[:0], keys[:0])
		for i := range views {
			f(&views[i])
		}
	}
}

// describe returns why a site is in trouble, and when it is tried next. The last failure of a site that is being
// visited is not known.
func describe(v *workbench.View[site.State], due time.Time) *FailingSite {
	t := &FailingSite{
		Site: string(v.Key), URLs: queuedURLs(v), NextTry: timestamp(due), Outcome: causeOf(v).String(),
	}
	if first := v.Data.FailureStreak().FirstAt; first > 0 {
		t.FailingSince = timestamp(time.Unix(int64(first), 0))
	}
	return t
}

// Last returns why the crawl has stalled, for the report; nil if it has not.
func (r *Reporter) Last() *FailingSites { return r.last.Load() }

// Stalled writes to the log why the crawl has stalled, and keeps it for the report. All loops have ended.
func (r *Reporter) Stalled(warn func(msg string, args ...any)) {
	t := r.allSites()
	r.last.Store(t)
	warn("the crawl stalls: every queued URL is of a site that fails or asks to slow down. Its queue is kept; "+
		"run the same command again to resume", "sites", t.Sites, "urls", t.URLs)
	for _, s := range t.List[:min(len(t.List), troubleLogged)] {
		warn("failing site",
			"site", s.Site, "outcome", s.Outcome, "failing_since", s.FailingSince, "next_try", s.NextTry, "urls", s.URLs)
	}
	if more := t.Sites - troubleLogged; more > 0 {
		warn("more failing sites: the first 100 are listed in report.json", "sites", more)
	}
}

// allSites lists the sites that have queued URLs.
func (r *Reporter) allSites() *FailingSites {
	t := new(FailingSites)
	r.eachSite(func(v *workbench.View[site.State]) {
		urls := queuedURLs(v)
		if urls == 0 || v.State == workbench.Dead {
			return
		}
		t.Sites++
		t.URLs += int64(urls)
		if len(t.List) < troubleListed {
			t.List = append(t.List, *describe(v, dueOf(v, time.Time{})))
		}
	})
	return t
}

// String returns one line for people.
func (t *FailingSites) String() string {
	s := t.sites() + ", with " + plural.Count(t.URLs, "URL")
	if l := t.Largest; l != nil && t.Sites == 1 {
		s += fmt.Sprintf(" (%.80s: %s)", l.Site, l.Outcome)
	} else if l != nil {
		s += fmt.Sprintf(" (most of them %.80s: %s, %s)", l.Site, l.Outcome, plural.Count(l.URLs, "URL"))
	}
	if t.NextTry != "" {
		s += "; next try " + t.NextTry
	}
	switch {
	case t.NeverAnswered && !t.stallsFirst() && t.Sites == 1:
		s += "; it is given up after its tries" + t.atAbout()
	case t.NeverAnswered && !t.stallsFirst():
		s += "; each is given up after its tries" + t.atAbout()
	case t.StallsAt != "":
		s += "; stops as stalled " + t.StallsAt + " if none answers"
	}
	return s
}

// atAbout says when the last site is given up; "" if that is not known.
func (t *FailingSites) atAbout() string {
	if at := clockTime(t.GiveUpLast); at != "" {
		return ", by about " + at
	}
	return ""
}

// sites describes the sites by what is wrong with them.
func (t *FailingSites) sites() string {
	switch s := plural.Count(t.Sites, "site"); {
	case t.NeverAnswered && t.Sites == 1:
		return s + " that has never answered"
	case t.NeverAnswered:
		return s + " that have never answered"
	case t.Sites == 1:
		return s + " that fails or asks to slow down"
	default:
		return s + " that fail or ask to slow down"
	}
}

// stallsFirst reports whether the crawl stalls before the last site has had its tries.
func (t *FailingSites) stallsFirst() bool {
	ends, err := time.Parse(time.RFC3339, t.StallsAt)
	last, unknown := time.Parse(time.RFC3339, t.GiveUpLast)
	return err == nil && (unknown != nil || ends.Before(last))
}

// timestamp formats a time for reports; "" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
