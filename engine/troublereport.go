package engine

import (
	"fmt"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/workbench"
)

// TroubleReport says what a crawl waits for whose queued URLs are all of sites that fail or ask to slow down, or why it has stalled.
type TroubleReport struct {
	Sites    int            `json:"sites"`               // with queued URLs
	URLs     int64          `json:"urls"`                // queued for them
	NextTry  string         `json:"next_try,omitempty"`  // when the first of them is asked again
	StallsAt string         `json:"stalls_at,omitempty"` // when the crawl stops as stalled, if no site answers before
	List     []TroubledSite `json:"list,omitempty"`      // of a stalled crawl: the first 100 sites
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

// troubleNow says what the crawl waits for; nil while a site with queued URLs is well.
func (d *distributor) troubleNow(queued int64) *TroubleReport {
	ends := d.stall.ends()
	if ends.IsZero() {
		return nil
	}
	c := d.bench.Counts()
	t := &TroubleReport{Sites: c.Waiting + c.Deferred + c.Leased + c.Parked, URLs: queued, StallsAt: stamp(ends)}
	t.NextTry = stamp(d.nextTry())
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

// String is one line for people.
func (t *TroubleReport) String() string {
	s := fmt.Sprintf("%d sites that fail or ask to slow down, with %d URLs", t.Sites, t.URLs)
	if t.NextTry != "" {
		s += "; next try " + t.NextTry
	}
	if t.StallsAt != "" {
		s += "; stops as stalled " + t.StallsAt + " if none answers"
	}
	return s
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
	d.bench.Each(func(vs *visitState, state benchState) bool {
		urls := uint64(d.bench.Queued(vs)) + d.bench.OnDisk(vs)
		if urls == 0 || state == workbench.Dead {
			return true
		}
		t.Sites++
		t.URLs += int64(urls)
		if len(t.List) == troubleListed {
			return true
		}
		one := TroubledSite{Site: string(d.bench.AppendKey(nil, vs)), URLs: urls, NextTry: stamp(d.bench.Due(vs))}
		d.bench.Look(vs, func(s *Site) {
			trouble := s.trouble()
			one.Why = trouble.why.String()
			if trouble.why == outcome.None && s.Denied {
				one.Why = outcome.RobotsUnreachable.String()
			}
			if trouble.since > 0 {
				one.Since = stamp(time.Unix(int64(trouble.since), 0))
			}
		})
		t.List = append(t.List, one)
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
