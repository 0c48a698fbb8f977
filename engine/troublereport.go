package engine

import (
	"fmt"
	"sync"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
)

// TroubleReport says what a crawl waits for whose queued URLs are all of sites that fail or ask to slow down, or why it
// has stalled.
type TroubleReport struct {
	Sites    int            `json:"sites"`               // with queued URLs
	URLs     int64          `json:"urls"`                // queued for them
	NextTry  string         `json:"next_try,omitempty"`  // when the first of them is asked again
	StallsAt string         `json:"stalls_at,omitempty"` // when the crawl stops as stalled, if no site answers before
	List     []TroubledSite `json:"list,omitempty"`      // of a stalled crawl: the first 100 sites
	Largest  *TroubledSite  `json:"largest,omitempty"`   // while the crawl waits: the site with the most URLs
	// NeverAnswered says that none of the sites has ever answered: each is given up after its tries.
	NeverAnswered bool `json:"never_answered,omitempty"`
}

// TroubledSite is a site in trouble.
type TroubledSite struct {
	Site    string `json:"site"`
	Why     string `json:"why"`                // outcome of the last attempt
	Since   string `json:"since,omitempty"`    // first failure after the last answer
	NextTry string `json:"next_try,omitempty"` // no earlier
	URLs    uint64 `json:"urls"`
}

const (
	troubleListed = 100 // sites in the report
	troubleLogged = 10  // sites in the log
)

// troubleNow says what the crawl waits for; nil while a site with queued URLs is well. Safe for concurrent use.
func (d *distributor) troubleNow(queued int64) *TroubleReport {
	ends := d.stall.ends()
	if ends.IsZero() {
		return nil
	}
	c := d.bench.Counts()
	t := &TroubleReport{Sites: c.Waiting + c.Deferred + c.Leased + c.Parked, URLs: queued, StallsAt: stamp(ends)}
	t.NextTry = stamp(d.nextTry())
	t.Largest, t.NeverAnswered = d.view.look(d, time.Now())
	return t
}

// troubleView is what the last look at all sites in trouble found, for reports that come more often than such a look
// may cost.
type troubleView struct {
	mu            sync.Mutex
	next          time.Time // the sites are not looked at before
	largest       *TroubledSite
	neverAnswered bool
}

// look finds the site with the most queued URLs, and says whether no site with queued URLs has ever answered.
func (v *troubleView) look(d *distributor, now time.Time) (largest *TroubledSite, neverAnswered bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Before(v.next) {
		return v.largest, v.neverAnswered
	}
	v.largest, v.neverAnswered = d.largestInTrouble(), !d.bench.Any(func(s *site.State) bool { return s.HasAnswered })
	v.next = now.Add(max(stallRest, stallShare*time.Since(now)))
	return v.largest, v.neverAnswered
}

// largestInTrouble is the site with the most queued URLs, of several the one known first; nil if no site has any.
func (d *distributor) largestInTrouble() *TroubledSite {
	var key []byte
	most := uint64(0)
	for k, more := 0, true; more; k++ {
		more = d.bench.Keys(k, func(_ *visit.State, site []byte, state workbench.State, urls uint64) {
			if urls > most && state != workbench.Dead {
				key, most = append(key[:0], site...), urls
			}
		})
	}
	if most == 0 {
		return nil
	}
	d.hosts.mu.Lock() // the site stays on the bench meanwhile
	defer d.hosts.mu.Unlock()
	if vs := d.bench.Get(key); vs != nil {
		return d.troubledSite(vs, most)
	}
	return nil
}

// troubledSite says why a site is in trouble. While it is being asked its last failure is not known.
func (d *distributor) troubledSite(vs *visit.State, urls uint64) *TroubledSite {
	t := &TroubledSite{Site: string(d.bench.AppendKey(nil, vs)), URLs: urls, NextTry: stamp(d.bench.Due(vs)), Why: outcome.None.String()}
	d.bench.ReadSite(vs, func(s *site.State) {
		trouble := s.FailureStreak()
		t.Why = trouble.LastOutcome.String()
		if trouble.LastOutcome == outcome.None && s.DenyAll {
			t.Why = outcome.RobotsUnreachable.String()
		}
		if trouble.FirstAt > 0 {
			t.Since = stamp(time.Unix(int64(trouble.FirstAt), 0))
		}
	})
	return t
}

// nextTry is when the first site is due, to be asked or to be resolved again.
func (d *distributor) nextTry() time.Time {
	next, ok := d.bench.NextDue()
	if again, deferred := d.bench.NextDeferred(); deferred && (!ok || again.Before(next)) {
		next = again
	}
	return next
}

// neverAnsweredMost is longer than the tries of a site take that has never answered (docs/adr/0032).
const neverAnsweredMost = 55 * time.Minute

// String is one line for people.
func (t *TroubleReport) String() string {
	if t == nil { // a site has answered since the caller looked
		return "sites that failed, one of which answers again"
	}
	s := t.sites() + ", with " + count(t.URLs, "URL")
	if l := t.Largest; l != nil && t.Sites == 1 {
		s += fmt.Sprintf(" (%.80s: %s)", l.Site, l.Why)
	} else if l != nil {
		s += fmt.Sprintf(" (most of them %.80s: %s, %s)", l.Site, l.Why, count(int64(l.URLs), "URL"))
	}
	if t.NextTry != "" {
		s += "; next try " + t.NextTry
	}
	switch {
	case t.NeverAnswered && !t.stallsFirst() && t.Sites == 1:
		s += "; it is given up after its tries"
	case t.NeverAnswered && !t.stallsFirst():
		s += "; each is given up after its tries"
	case t.StallsAt != "":
		s += "; stops as stalled " + t.StallsAt + " if none answers"
	}
	return s
}

// sites names the sites by what is wrong with them.
func (t *TroubleReport) sites() string {
	switch s := count(int64(t.Sites), "site"); {
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

// stallsFirst says that the crawl stalls before a site that has never answered can have had its tries.
func (t *TroubleReport) stallsFirst() bool {
	if t.Largest == nil {
		return false
	}
	ends, err := time.Parse(time.RFC3339, t.StallsAt)
	since, none := time.Parse(time.RFC3339, t.Largest.Since)
	return err == nil && none == nil && ends.Sub(since) < neverAnsweredMost
}

// stamp is a time as reports have it, "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// stalledBy lists the sites over which the crawl has stalled. All loops have ended.
func (d *distributor) stalledBy() *TroubleReport {
	t := new(TroubleReport)
	d.bench.Each(func(vs *visit.State, state workbench.State) bool {
		urls := uint64(d.bench.Queued(vs)) + d.bench.OnDisk(vs)
		if urls == 0 || state == workbench.Dead {
			return true
		}
		t.Sites++
		t.URLs += int64(urls)
		if len(t.List) == troubleListed {
			return true
		}
		t.List = append(t.List, *d.troubledSite(vs, urls))
		return true
	})
	return t
}

// tellTrouble says in the log why the crawl has stalled, and gives it for the report.
func (d *distributor) tellTrouble(say func(msg string, args ...any)) *TroubleReport {
	t := d.stalledBy()
	say("the crawl stalls: every queued URL is of a site that fails or asks to slow down. Its queue is kept; run the same command again to go on",
		"sites", t.Sites, "urls", t.URLs)
	for _, s := range t.List[:min(len(t.List), troubleLogged)] {
		say("site in trouble", "site", s.Site, "why", s.Why, "since", s.Since, "next_try", s.NextTry, "urls", s.URLs)
	}
	if more := t.Sites - troubleLogged; more > 0 {
		say("more sites in trouble: the first 100 are listed in report.json", "sites", more)
	}
	return t
}
