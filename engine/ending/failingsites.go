package ending

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/internal/outcome"
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

// Sites finds sites by their keys.
type Sites interface {
	// UseLoaded calls f with a site that is on the workbench, which does not leave it meanwhile.
	UseLoaded(key []byte, f func(vs *visit.State))
}

// Reporter describes what a crawl waits for. Safe for concurrent use.
type Reporter struct {
	workbench *visit.Workbench
	sites     Sites
	stall     *StallDetector

	last atomic.Pointer[FailingSites] // why the crawl has stalled; nil if it has not

	// What the last scan of all sites found: reports come more often than a scan may cost.
	mu            sync.Mutex
	nextScan      time.Time // the sites are not scanned before this time
	largest       []byte    // key of the site with the most queued URLs
	largestURLs   uint64
	neverAnswered bool
	outlook       *Outlook
}

// NewReporter returns a Reporter for the crawl of a StallDetector.
func NewReporter(w *visit.Workbench, sites Sites, stall *StallDetector) *Reporter {
	return &Reporter{workbench: w, sites: sites, stall: stall, outlook: new(Outlook)}
}

// Current returns what the crawl waits for; nil while a site with queued URLs is healthy. queued is the number of
// queued URLs.
func (r *Reporter) Current(queued int64) *FailingSites {
	ends := r.stall.EndsAt()
	if ends.IsZero() {
		return nil
	}
	c := r.workbench.Counts()
	t := &FailingSites{Sites: c.Waiting + c.Deferred + c.Leased + c.Parked, URLs: queued, StallsAt: timestamp(ends)}
	t.NextTry = timestamp(r.nextTry())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scan(time.Now())
	t.NeverAnswered, t.GiveUpLast = r.neverAnswered, r.outlook.GiveUpLast
	if r.largestURLs > 0 {
		r.sites.UseLoaded(r.largest, func(vs *visit.State) { t.Largest = r.describe(vs, r.largestURLs) })
	}
	return t
}

// Outlook returns what the sites with queued URLs say about the rest of the crawl, as of a moment ago.
func (r *Reporter) Outlook(now time.Time) *Outlook {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scan(now)
	return r.outlook
}

// scan looks at all sites, unless it did so a moment ago: which has the most queued URLs, whether none has ever
// answered, and the Outlook.
func (r *Reporter) scan(now time.Time) {
	if now.Before(r.nextScan) {
		return
	}
	began := time.Now()
	r.outlook = new(Outlook)
	var key, scratch []byte
	var views []workbench.View[site.State]
	most := uint64(0)
	for from := uint64(1); from != 0; {
		views, scratch, from = r.workbench.Listing().Views(from, views[:0], scratch[:0])
		for i := range views {
			v := &views[i]
			r.outlook.Observe(v, r.stall.live, now)
			if urls := queuedURLs(v); urls > most && v.State != workbench.Dead {
				key, most = append(key[:0], v.Key...), urls
			}
		}
	}
	r.outlook.Finish(now)
	r.largest, r.largestURLs = key, most
	r.neverAnswered = !r.workbench.Listing().Any(func(s *site.State) bool { return s.HasAnswered })
	r.nextScan = now.Add(max(scanPause, scanShare*time.Since(began)))
}

// describe returns why a site is in trouble. The last failure of a site that is being visited is not known.
func (r *Reporter) describe(vs *visit.State, urls uint64) *FailingSite {
	t := &FailingSite{
		Site: string(r.workbench.Site(vs).AppendKey(nil)), URLs: urls, NextTry: timestamp(r.workbench.Site(vs).Due()),
		Outcome: outcome.None.String(),
	}
	r.workbench.Site(vs).Read(func(s *site.State) {
		failures := s.FailureStreak()
		t.Outcome = failures.LastOutcome.String()
		if failures.LastOutcome == outcome.None && s.DenyAll {
			t.Outcome = outcome.RobotsUnreachable.String()
		}
		if failures.FirstAt > 0 {
			t.FailingSince = timestamp(time.Unix(int64(failures.FirstAt), 0))
		}
	})
	return t
}

// nextTry is when the first site is due, for a request or for name resolution.
func (r *Reporter) nextTry() time.Time {
	next, ok := r.workbench.DueTimes().Next()
	if deferred, found := r.workbench.DueTimes().NextDeferred(); found && (!ok || deferred.Before(next)) {
		next = deferred
	}
	return next
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
	r.workbench.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		urls := uint64(r.workbench.Site(vs).Queued()) + r.workbench.Site(vs).OnDisk()
		if urls == 0 || state == workbench.Dead {
			return true
		}
		t.Sites++
		t.URLs += int64(urls)
		if len(t.List) < troubleListed {
			t.List = append(t.List, *r.describe(vs, urls))
		}
		return true
	})
	return t
}

// neverAnsweredMost is longer than all tries of a site that has never answered (docs/adr/0032).
const neverAnsweredMost = 55 * time.Minute

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

// stallsFirst reports whether the crawl stalls before a site that has never answered has had its tries.
func (t *FailingSites) stallsFirst() bool {
	if t.Largest == nil {
		return false
	}
	ends, err := time.Parse(time.RFC3339, t.StallsAt)
	since, none := time.Parse(time.RFC3339, t.Largest.FailingSince)
	return err == nil && none == nil && ends.Sub(since) < neverAnsweredMost
}

// timestamp formats a time for reports; "" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
