package ending

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
	"orbweaver/workbench"
)

// An Outlook is what the sites with queued URLs say about the rest of the crawl: how many fail, and how long the
// longest queue takes. The progress line, report.json, the dashboard and doctor all use it.
type Outlook struct {
	Sites       int    `json:"sites"`        // with queued URLs
	URLs        uint64 `json:"urls"`         // queued for them
	Failing     int    `json:"failing"`      // sites that fail or ask to slow down
	FailingURLs uint64 `json:"failing_urls"` // their URLs
	Cause       string `json:"cause,omitempty"`
	CauseSites  int    `json:"cause_sites,omitempty"` // failing sites with this outcome, the commonest
	// GiveUpFirst and GiveUpLast are when the first and the last failing site is given up, if none answers before.
	GiveUpFirst string `json:"give_up_first,omitempty"`
	GiveUpLast  string `json:"give_up_last,omitempty"`
	NextTry     string `json:"next_try,omitempty"` // of a failing site
	// LongestHost is the healthy site whose queue takes longest at its delay.
	LongestHost    string  `json:"longest_host,omitempty"`
	LongestSeconds float64 `json:"longest_seconds,omitempty"`
	SecondsLeast   float64 `json:"seconds_least"` // the crawl takes as long at least; 0 if that is not known

	failing     failingTally
	waiting     int // healthy sites that are not due yet
	nextHealthy string
	nextDue     time.Time // of nextHealthy
}

// failingTally is what was seen of the failing sites.
type failingTally struct {
	causes       [outcome.Count]int
	first, last  time.Time // of giving up
	next         time.Time // try
	isEndUnknown bool      // one has answered before: it may be tried for days
	hasAnswered  bool      // one has answered before
	largest      *FailingSite
}

func queuedURLs(v *workbench.View[site.State]) uint64 { return uint64(v.Queued+v.InVisit) + v.OnDisk }

// dueOf is when a site can be asked: no earlier than a time.
func dueOf(v *workbench.View[site.State], least time.Time) time.Time {
	due := v.Due
	for _, at := range []time.Time{v.IP.Due, v.Deferred, least} {
		if at.After(due) {
			due = at
		}
	}
	return due
}

// Observe takes a site with queued URLs into account.
func (o *Outlook) Observe(v *workbench.View[site.State], live *settings.Live, now time.Time) {
	urls := queuedURLs(v)
	if urls == 0 || v.State == workbench.Dead {
		return
	}
	o.Sites++
	o.URLs += urls
	due := dueOf(v, now)
	if !site.IsTroubled(&v.Data) && !awaitsRobots(v) {
		policy, terms := live.Policy(), live.Hosts.Terms(v.Key)
		delay := policy.SlowedDelay(policy.SiteDelay(terms.Delay(), v.Data.CrawlDelay()), v.Data.Slowdown)
		takes := due.Sub(now).Seconds() + float64(urls-1)*delay.Seconds()
		if takes > o.LongestSeconds {
			o.LongestHost, o.LongestSeconds = string(v.Key), takes
		}
		if v.State == workbench.Waiting && due.After(now) {
			if o.waiting++; o.waiting == 1 || due.Before(o.nextDue) {
				o.nextHealthy, o.nextDue = string(v.Key), due
			}
		}
		return
	}
	o.Failing++
	o.FailingURLs += urls
	o.failing.observe(v, due, giveUpAt(&v.Data, due, live))
}

// observe takes a failing site into account, with its next try and when it is given up.
func (f *failingTally) observe(v *workbench.View[site.State], due, end time.Time) {
	f.causes[causeOf(v)]++
	f.hasAnswered = f.hasAnswered || v.Data.HasAnswered
	if f.largest == nil || queuedURLs(v) > f.largest.URLs {
		f.largest = describe(v, due)
	}
	if f.next.IsZero() || due.Before(f.next) {
		f.next = due
	}
	f.isEndUnknown = f.isEndUnknown || end.IsZero()
	if !end.IsZero() && (f.first.IsZero() || end.Before(f.first)) {
		f.first = end
	}
	if end.After(f.last) {
		f.last = end
	}
}

// noneAnswers notes that all sites are given up at some time if no server answers before; zero for no such time.
func (o *Outlook) noneAnswers(at time.Time) {
	f := &o.failing
	if at.IsZero() || o.Failing < o.Sites || !f.isEndUnknown && f.last.Before(at) {
		return
	}
	if f.isEndUnknown, f.last = false, at; f.first.IsZero() || at.Before(f.first) {
		f.first = at
	}
}

// Finish computes the rest of the fields, when all sites were observed.
func (o *Outlook) Finish(now time.Time) {
	o.SecondsLeast = o.LongestSeconds
	if o.Failing == 0 {
		return
	}
	f := &o.failing
	most := slices.Index(f.causes[:], slices.Max(f.causes[:]))
	o.Cause, o.CauseSites = outcome.Outcome(most).String(), f.causes[most]
	o.NextTry, o.GiveUpFirst = timestamp(f.next), timestamp(f.first)
	if o.GiveUpLast = timestamp(f.last); f.isEndUnknown {
		o.GiveUpLast = ""
	} else if left := f.last.Sub(now).Seconds(); left > o.SecondsLeast {
		o.SecondsLeast = left
	}
}

// awaitsRobots reports whether a site waits for the robots.txt of another.
func awaitsRobots(v *workbench.View[site.State]) bool {
	return v.State == workbench.Parked && v.Data.AwaitsOtherRobots()
}

// causeOf is CauseOf, and knows the sites that wait for the robots.txt of another.
func causeOf(v *workbench.View[site.State]) outcome.Outcome {
	if o := CauseOf(&v.Data); o != outcome.None || !awaitsRobots(v) {
		return o
	}
	return outcome.RobotsUnreachable
}

// CauseOf returns why a site fails; outcome.None if it does not. A robots.txt that cannot be fetched forbids all,
// whatever its requests ended in.
func CauseOf(s *site.State) outcome.Outcome {
	o := s.FailureStreak().LastOutcome
	isOther := o.Class() != outcome.ClassHost && o != outcome.TLSFault // than a fault of the connection
	if s.Rules == nil && s.RobotsTries > 0 && isOther || s.DenyAll && o == outcome.None {
		return outcome.RobotsUnreachable
	}
	return o
}

// giveUpAt returns about when a failing site is given up if it does not answer; zero if that is not known. due is its
// next try.
func giveUpAt(s *site.State, due time.Time, live *settings.Live) time.Time {
	streak, policy := s.FailureStreak(), live.Policy()
	switch {
	case s.HasAnswered && streak.FirstAt > 0:
		return time.Unix(int64(streak.FirstAt), 0).Add(live.Bounds().GiveUp)
	case s.HasAnswered:
		return time.Time{}
	case s.Failures > 0:
		return due.Add(policy.WaitsUntilGivenUp(int(s.Failures)-s.AddrFailures(), streak.LastOutcome))
	case s.Rules == nil && s.RobotsTries > 0:
		wait := time.Duration(0)
		for t := int(s.RobotsTries) + 1; t < site.RobotsTriesOf(policy); t++ {
			wait += site.RobotsRetryWait(int8(t))
		}
		return due.Add(wait)
	default:
		return time.Time{}
	}
}

// AreMostFailing reports whether failing sites have most of the queued URLs.
func (o *Outlook) AreMostFailing() bool { return o.Failing > 0 && 2*o.FailingURLs >= o.URLs }

// String says which sites fail and until when; "" if none does.
func (o *Outlook) String() string {
	if o.Failing == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s to slow down: %s", plural.Count(o.Failing, "site"),
		plural.Verb(o.Failing, "fails or asks", "fail or ask"), o.Cause)
	if o.CauseSites < o.Failing {
		fmt.Fprintf(&b, " (%d of them)", o.CauseSites)
	}
	fmt.Fprintf(&b, "; %d of %s", o.FailingURLs, plural.Count(o.URLs, "URL"))
	switch first, last := clockTime(o.GiveUpFirst), clockTime(o.GiveUpLast); {
	case last != "" && (first == last || o.Failing == 1):
		fmt.Fprintf(&b, "; given up at about %s", last)
	case last != "":
		fmt.Fprintf(&b, "; given up between %s and %s", first, last)
	case first != "":
		fmt.Fprintf(&b, "; the first given up at about %s", first)
	}
	return b.String()
}

// Waiting returns how many healthy sites wait for their delay, and which is due first.
func (o *Outlook) Waiting() (sites int, first string, due time.Time) {
	return o.waiting, o.nextHealthy, o.nextDue
}

// clockTime shortens a time of today to hours and minutes.
func clockTime(timestamp string) string {
	t, err := time.Parse(time.RFC3339, timestamp)
	switch now := time.Now().UTC(); {
	case err != nil:
		return ""
	case t.Sub(now) < 20*time.Hour && t.Day() == now.Day():
		return t.Format("15:04")
	default:
		return t.Format("2006-01-02 15:04")
	}
}

// HowToEndSooner names the settings that shorten the wait for failing sites.
const HowToEndSooner = "ctl set tries=N gives sites up sooner that never answered, give-up=TIME those that did, " +
	"stall-wait=TIME ends the crawl and keeps their queues; ctl block drops them"
