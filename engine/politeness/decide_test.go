package politeness

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/engine/outcome"
)

const (
	s = time.Second
	m = time.Minute
)

// A row per story: what happened, and how long site and IP then wait.
func TestDecide(t *testing.T) {
	longer, shorter := 20*time.Second, time.Second
	p := Default()
	none := time.Duration(-1) // due time stays as it is
	for _, c := range []struct {
		what     string
		a        Attempt
		site, ip time.Duration
		retry    bool
		failures int
		kill     bool
	}{
		{"a page", Attempt{Outcome: outcome.OK}, 4 * s, s / 2, false, 0, false},
		{"a page forgives", Attempt{Outcome: outcome.OK, SiteFailures: 4}, 4 * s, s / 2, false, 0, false},
		{"a page forgives haste", Attempt{Outcome: outcome.OK, SiteFailures: -7}, 4 * s, s / 2, false, 0, false},
		{"Crawl-delay", Attempt{Outcome: outcome.OK, CrawlDelay: 30 * s}, 30 * s, s / 2, false, 0, false},
		{"a short Crawl-delay", Attempt{Outcome: outcome.OK, CrawlDelay: s}, 4 * s, s / 2, false, 0, false},
		{"a negative Crawl-delay", Attempt{Outcome: outcome.OK, CrawlDelay: -s}, 4 * s, s / 2, false, 0, false},
		{"a Crawl-delay of a century", Attempt{Outcome: outcome.OK, CrawlDelay: 876000 * time.Hour}, 5 * m, s / 2, false, 0, false},
		{"a longer delay by rule", Attempt{Outcome: outcome.OK, HostDelay: &longer}, 20 * s, s / 2, false, 0, false},
		{"a shorter delay by rule", Attempt{Outcome: outcome.OK, HostDelay: &shorter}, s, s / 2, false, 0, false},
		{"Crawl-delay beats a rule", Attempt{Outcome: outcome.OK, HostDelay: &shorter, CrawlDelay: 9 * s}, 9 * s, s / 2, false, 0, false},
		{"Retry-After with a page", Attempt{Outcome: outcome.OK, RetryAfter: m}, 4 * s, s / 2, false, 0, false},

		{"reset", Attempt{Outcome: outcome.Reset}, 4 * s, s / 2, true, 0, false},
		{"reset again", Attempt{Outcome: outcome.Reset, Try: 1}, 5 * s, s / 2, true, 0, false},
		{"reset, the last", Attempt{Outcome: outcome.Reset, Try: 2}, 4 * s, s / 2, false, 0, false},
		{"a reset says nothing", Attempt{Outcome: outcome.Reset, SiteFailures: 3}, 4 * s, s / 2, true, 3, false},
		{"500", Attempt{Outcome: outcome.ServerError, Try: 1, SiteFailures: 3}, 5 * s, s / 2, true, 0, false},
		{"a short body", Attempt{Outcome: outcome.CutDisconnect, Try: 1}, 5 * s, s / 2, true, 0, false},
		{"no head in time", Attempt{Outcome: outcome.HeaderTimeout, Try: 2}, 4 * s, s / 2, false, 0, false},

		{"429", Attempt{Outcome: outcome.TooMany}, 10 * s, s / 2, true, -1, false},
		{"429 twice", Attempt{Outcome: outcome.TooMany, Try: 1, SiteFailures: -1}, 20 * s, s / 2, true, -2, false},
		{"503 the fifth time", Attempt{Outcome: outcome.Unavailable, Try: 4, SiteFailures: -4}, 160 * s, s / 2, false, -5, false},
		{"429 for ever", Attempt{Outcome: outcome.TooMany, SiteFailures: -99}, time.Hour, s / 2, true, -100, false},
		{"429 after refusals", Attempt{Outcome: outcome.TooMany, SiteFailures: 4}, 10 * s, s / 2, true, -1, false},
		{"Retry-After", Attempt{Outcome: outcome.TooMany, RetryAfter: 120 * s}, 2 * m, s / 2, true, -1, false},
		{"a short Retry-After", Attempt{Outcome: outcome.Unavailable, RetryAfter: s}, 5656250 * time.Microsecond, s / 2, true, -1, false},
		{"an absurd Retry-After", Attempt{Outcome: outcome.Unavailable, RetryAfter: math.MaxInt64}, 24 * time.Hour, s / 2, true, -1, false},
		{"a negative Retry-After", Attempt{Outcome: outcome.Unavailable, RetryAfter: -s}, 10 * s, s / 2, true, -1, false},

		{"refused", Attempt{Outcome: outcome.Refused}, 10 * s, s / 2, true, 1, false},
		{"refused twice", Attempt{Outcome: outcome.Refused, Try: 1, SiteFailures: 1}, m, s / 2, true, 2, false},
		{"then no connection", Attempt{Outcome: outcome.ConnectTimeout, Try: 2, SiteFailures: 2}, 5 * m, s / 2, true, 3, false},
		{"then no route", Attempt{Outcome: outcome.Unreachable, Try: 3, SiteFailures: 3}, 15 * m, s / 2, true, 4, false},
		{"the fifth in a row", Attempt{Outcome: outcome.Refused, Try: 4, SiteFailures: 4}, 15 * m, s / 2, false, 5, true},
		{"the fifth, of another URL", Attempt{Outcome: outcome.Refused, SiteFailures: 4}, 15 * m, s / 2, false, 5, true},
		{"refused after haste", Attempt{Outcome: outcome.Refused, SiteFailures: -99}, 10 * s, s / 2, true, 1, false},

		{"no such name", Attempt{Outcome: outcome.NameNotFound}, none, none, false, 1, true},
		{"a lame name server", Attempt{Outcome: outcome.NameFault, SiteFailures: 1}, m, none, true, 2, false},
		{"robots.txt says no", Attempt{Outcome: outcome.RobotsDenied, SiteFailures: 2}, none, none, false, 2, false},
		{"a kept connection has ended", Attempt{Outcome: outcome.Stale, Try: 3, SiteFailures: 2}, 4 * s, s / 2, true, 2, false},
		{"the crawl stops", Attempt{Outcome: outcome.Cancelled, Try: 3, SiteFailures: 2}, 4 * s, s / 2, true, 2, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			start := time.Unix(1e9, 0)
			c.a.Started, c.a.Ended = start, start.Add(3*s)
			want := Decision{Retry: c.retry, SiteFailures: c.failures, KillSite: c.kill}
			if c.site >= 0 {
				want.SiteDue = c.a.Ended.Add(c.site)
			}
			if c.ip >= 0 {
				want.IPDue = c.a.Ended.Add(c.ip)
			}
			got := p.Decide(c.a)
			got.SiteStrain, got.IPStrain = 0, IPStrain{} // they have a test of their own
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// Whatever the attempt, the promises of doc.go hold.
func TestDecideKeepsItsPromises(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(d ...time.Duration) time.Duration { return d[rng.IntN(len(d))] }
	for range 200_000 {
		p := Default()
		p.HostDelay = pick(0, 1, s, time.Hour, 48*time.Hour)
		p.IPDelay = pick(0, 1, s, time.Hour)
		a := Attempt{
			Outcome: outcome.Outcome(1 + rng.IntN(outcome.Count-1)), Try: rng.IntN(8), SiteFailures: rng.IntN(12) - 6,
			CrawlDelay: pick(math.MinInt64, -1, 0, s, m, 2*time.Hour, math.MaxInt64),
			RetryAfter: pick(math.MinInt64, -1, 0, s, m, 2*time.Hour, math.MaxInt64),
			SiteStrain: Strain(rng.IntN(strainMost)), IPStrain: IPStrain{Strain(rng.IntN(strainMost)), uint16(rng.IntN(3))},
			Site: uint16(1 + rng.IntN(2)), Jitter: rng.Uint64(),
			Started: time.Unix(1e9, 0), Ended: time.Unix(1e9+int64(rng.IntN(3)), 0),
		}
		d := p.Decide(a)
		delay := max(p.HostDelay, min(a.CrawlDelay, p.CrawlDelayMax))
		rule := p.Table[a.Outcome]
		switch {
		case rule.Contact && (d.SiteDue.Before(a.Ended.Add(delay)) || d.IPDue.Before(a.Ended.Add(p.IPDelay))):
			t.Fatalf("too early: %+v %+v", a, d)
		case d.IPDue.After(a.Ended.Add(max(p.IPDelay, p.IPStretchMax) * 5 / 4)):
			t.Fatalf("the IP too late: %+v %+v", a, d)
		case d.SiteDue.After(a.Ended.Add(max(delay, p.RetryAfterMax, p.BackoffMax+p.BackoffMax/4))):
			t.Fatalf("too late: %+v %+v", a, d)
		case d.Retry && d.KillSite:
			t.Fatalf("again and never again: %+v %+v", a, d)
		case d.Retry && d.SiteDue.IsZero():
			t.Fatalf("again at once: %+v %+v", a, d)
		}
		more := a
		more.CrawlDelay = max(a.CrawlDelay, pick(s, m, time.Hour))
		if later := p.Decide(more); later.SiteDue.Before(d.SiteDue) {
			t.Fatalf("a longer Crawl-delay brought it forward: %+v %+v %+v", a, d, later)
		}
		if worse := a; rule.SiteBackoff && a.RetryAfter <= 0 {
			worse.SiteFailures, worse.Jitter = d.SiteFailures, a.Jitter
			if later := p.Decide(worse); later.SiteDue.Before(d.SiteDue) {
				t.Fatalf("one more failure brought it forward: %+v %+v %+v", a, d, later)
			}
		}
	}
}

func TestJitterStaysWithinAQuarter(t *testing.T) {
	p := Default()
	end := time.Unix(1e9, 0)
	wait := func(jitter uint64) time.Duration {
		return p.Decide(Attempt{Outcome: outcome.TooMany, Started: end, Ended: end, Jitter: jitter}).SiteDue.Sub(end)
	}
	if lo, mid, hi := wait(0), wait(1<<63), wait(math.MaxUint64); lo != 10*s || mid != 11250*time.Millisecond ||
		hi <= 12499*time.Millisecond || hi > 12500*time.Millisecond {
		t.Error(lo, mid, hi)
	}
}

// A clock that went back during the attempt does not shorten the delay.
func TestEndedBeforeItStarted(t *testing.T) {
	p := Default()
	start := time.Unix(1e9, 0)
	d := p.Decide(Attempt{Outcome: outcome.OK, Started: start, Ended: start.Add(-time.Hour)})
	if !d.SiteDue.Equal(start.Add(4*s)) || !d.IPDue.Equal(start.Add(s/2)) {
		t.Error(d.SiteDue, d.IPDue)
	}
}

func TestDecideWithoutAnOutcomePanics(t *testing.T) {
	p := Default()
	for _, o := range []outcome.Outcome{outcome.None, outcome.Outcome(outcome.Count), 255} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("outcome %d: no panic", o)
				}
			}()
			p.Decide(Attempt{Outcome: o})
		}()
	}
}

func BenchmarkDecide(b *testing.B) {
	p := Default()
	a := Attempt{Outcome: outcome.TooMany, SiteFailures: -3, Started: time.Unix(1e9, 0), Ended: time.Unix(1e9, 1)}
	b.ReportAllocs()
	for b.Loop() {
		p.Decide(a)
	}
}
