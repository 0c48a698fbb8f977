package politeness

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

const (
	s = time.Second
	m = time.Minute
)

// Each row: what happened, and how long site and IP address then wait.
func TestDecide(t *testing.T) {
	longer, shorter := 20*time.Second, time.Second
	p := Default()
	none := time.Duration(-1) // the due time does not change
	for _, c := range []struct {
		what     string
		a        Attempt
		site, ip time.Duration
		retry    bool
		failures int
		kill     bool
	}{
		{"a page", Attempt{Outcome: outcome.OK}, 4 * s, s / 2, false, 0, false},
		{"a page resets failures", Attempt{Outcome: outcome.OK, SiteFailures: 4}, 4 * s, s / 2, false, 0, false},
		{"a page resets slow-down requests", Attempt{Outcome: outcome.OK, SiteFailures: -7}, 4 * s, s / 2, false, 0, false},
		{"Crawl-delay", Attempt{Outcome: outcome.OK, CrawlDelay: 30 * s}, 30 * s, s / 2, false, 0, false},
		{"a short Crawl-delay", Attempt{Outcome: outcome.OK, CrawlDelay: s}, 4 * s, s / 2, false, 0, false},
		{"a negative Crawl-delay", Attempt{Outcome: outcome.OK, CrawlDelay: -s}, 4 * s, s / 2, false, 0, false},
		{"a Crawl-delay of 100 years", Attempt{Outcome: outcome.OK, CrawlDelay: 876000 * time.Hour}, 5 * m, s / 2,
			false, 0, false},
		{"a longer delay by host rule", Attempt{Outcome: outcome.OK, HostDelay: &longer}, 20 * s, s / 2, false, 0, false},
		{"a shorter delay by host rule", Attempt{Outcome: outcome.OK, HostDelay: &shorter}, s, s / 2, false, 0, false},
		{"Crawl-delay is longer than the host rule", Attempt{Outcome: outcome.OK, HostDelay: &shorter,
			CrawlDelay: 9 * s}, 9 * s, s / 2, false, 0, false},
		{"Retry-After with a page", Attempt{Outcome: outcome.OK, RetryAfter: m}, 4 * s, s / 2, false, 0, false},
		{"reset", Attempt{Outcome: outcome.Reset}, 4 * s, s / 2, true, 0, false},
		{"reset again", Attempt{Outcome: outcome.Reset, Try: 1}, 5 * s, s / 2, true, 0, false},
		{"reset, the last try", Attempt{Outcome: outcome.Reset, Try: 2}, 4 * s, s / 2, false, 0, false},
		{"a reset changes no count", Attempt{Outcome: outcome.Reset, SiteFailures: 3}, 4 * s, s / 2, true, 3, false},
		{"500", Attempt{Outcome: outcome.ServerError, Try: 1, SiteFailures: 3}, 5 * s, s / 2, true, 0, false},
		{"an incomplete body", Attempt{Outcome: outcome.TruncatedDisconnect, Try: 1}, 5 * s, s / 2, true, 0, false},
		{"no header in time", Attempt{Outcome: outcome.HeaderTimeout, Try: 2}, 4 * s, s / 2, false, 0, false},

		{"429", Attempt{Outcome: outcome.TooMany}, 10 * s, s / 2, true, -1, false},
		{"429 twice", Attempt{Outcome: outcome.TooMany, Try: 1, SiteFailures: -1}, 20 * s, s / 2, true, -2, false},
		{"503 the fifth time", Attempt{Outcome: outcome.Unavailable, Try: 4, SiteFailures: -4}, 160 * s, s / 2, false,
			-5, false},
		{"429 one hundred times", Attempt{Outcome: outcome.TooMany, SiteFailures: -99}, time.Hour, s / 2, true, -100, false},
		{"429 after refused connections", Attempt{Outcome: outcome.TooMany, SiteFailures: 4}, 10 * s, s / 2, true, -1, false},
		{"Retry-After", Attempt{Outcome: outcome.TooMany, RetryAfter: 120 * s}, 2 * m, s / 2, true, -1, false},
		{"a short Retry-After", Attempt{Outcome: outcome.Unavailable, RetryAfter: s}, 5656250 * time.Microsecond, s / 2,
			true, -1, false},
		{"a Retry-After above the limit", Attempt{Outcome: outcome.Unavailable, RetryAfter: math.MaxInt64},
			24 * time.Hour, s / 2, true, -1, false},
		{"a negative Retry-After", Attempt{Outcome: outcome.Unavailable, RetryAfter: -s}, 10 * s, s / 2, true, -1, false},

		{"refused", Attempt{Outcome: outcome.Refused}, 10 * s, s / 2, true, 1, false},
		{"refused twice", Attempt{Outcome: outcome.Refused, Try: 1, SiteFailures: 1}, m, s / 2, true, 2, false},
		{"then no connection", Attempt{Outcome: outcome.ConnectTimeout, Try: 2, SiteFailures: 2}, 5 * m, s / 2, true, 3,
			false},
		{"then no route", Attempt{Outcome: outcome.Unreachable, Try: 3, SiteFailures: 3}, 15 * m, s / 2, true, 4, false},
		{"the fifth in a row", Attempt{Outcome: outcome.Refused, Try: 4, SiteFailures: 4}, 15 * m, s / 2, false, 5, true},
		{"the fifth, of another URL", Attempt{Outcome: outcome.Refused, SiteFailures: 4}, 15 * m, s / 2, false, 5, true},
		{"refused after slow-down requests", Attempt{Outcome: outcome.Refused, SiteFailures: -99}, 10 * s, s / 2, true,
			1, false},

		{"no such name", Attempt{Outcome: outcome.NameNotFound}, none, none, false, 1, true},
		{"name servers fail", Attempt{Outcome: outcome.NameFault, SiteFailures: 1}, m, none, true, 2, false},
		{"robots.txt disallows", Attempt{Outcome: outcome.RobotsDenied, SiteFailures: 2}, none, none, false, 2, false},
		{"a stale connection", Attempt{Outcome: outcome.Stale, Try: 3, SiteFailures: 2}, 4 * s, s / 2, true, 2, false},
		{"the crawl stops", Attempt{Outcome: outcome.Cancelled, Try: 3, SiteFailures: 2}, 4 * s, s / 2, true, 2, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			start := time.Unix(1e9, 0)
			c.a.Started, c.a.Ended = start, start.Add(3*s)
			want := Decision{Retry: c.retry, SiteFailures: c.failures, GiveUpSite: c.kill}
			if c.site >= 0 {
				want.SiteDue = c.a.Ended.Add(c.site)
			}
			if c.ip >= 0 {
				want.IPDue = c.a.Ended.Add(c.ip)
			}
			got := p.Decide(c.a)
			got.SiteSlowdown, got.IPSlowdown = 0, IPSlowdown{} // they have their own tests
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// The guarantees of the package page hold for random attempts.
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
			SiteSlowdown: Slowdown(
				rng.IntN(slowdownMax),
			), IPSlowdown: IPSlowdown{Slowdown(rng.IntN(slowdownMax)), uint16(rng.IntN(3))},
			SiteHash: uint16(1 + rng.IntN(2)), Jitter: rng.Uint64(),
			Started: time.Unix(1e9, 0), Ended: time.Unix(1e9+int64(rng.IntN(3)), 0),
		}
		d := p.Decide(a)
		delay := max(p.HostDelay, min(a.CrawlDelay, p.CrawlDelayMax))
		rule := p.Table[a.Outcome]
		switch {
		case rule.Contact && (d.SiteDue.Before(a.Ended.Add(delay)) || d.IPDue.Before(a.Ended.Add(p.IPDelay))):
			t.Fatalf("too early: %+v %+v", a, d)
		case d.IPDue.After(a.Ended.Add(max(p.IPDelay, p.SlowedIPDelayMax) * 5 / 4)):
			t.Fatalf("the IP address is due too late: %+v %+v", a, d)
		case d.SiteDue.After(a.Ended.Add(max(delay, p.RetryAfterMax, p.BackoffMax+p.BackoffMax/4))):
			t.Fatalf("too late: %+v %+v", a, d)
		case d.Retry && d.GiveUpSite:
			t.Fatalf("both a retry and a dead site: %+v %+v", a, d)
		case d.Retry && d.SiteDue.IsZero():
			t.Fatalf("a retry without a due time: %+v %+v", a, d)
		}
		more := a
		more.CrawlDelay = max(a.CrawlDelay, pick(s, m, time.Hour))
		if later := p.Decide(more); later.SiteDue.Before(d.SiteDue) {
			t.Fatalf("a longer Crawl-delay made the site due earlier: %+v %+v %+v", a, d, later)
		}
		if worse := a; rule.SiteBackoff && a.RetryAfter <= 0 {
			worse.SiteFailures, worse.Jitter = d.SiteFailures, a.Jitter
			if later := p.Decide(worse); later.SiteDue.Before(d.SiteDue) {
				t.Fatalf("one more failure made the site due earlier: %+v %+v %+v", a, d, later)
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

// A clock that is set back during the attempt does not shorten the delay.
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
