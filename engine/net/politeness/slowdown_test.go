package politeness

import (
	"fmt"
	"math"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// asking returns a function that makes one more attempt at the same site and returns the wait after it.
func asking(p *Policy) func(o outcome.Outcome, retryAfter time.Duration) time.Duration {
	var d Decision
	end := time.Unix(1e9, 0)
	return func(o outcome.Outcome, retryAfter time.Duration) time.Duration {
		d = p.Decide(
			Attempt{
				Outcome:      o,
				RetryAfter:   retryAfter,
				Started:      end,
				Ended:        end,
				SiteFailures: d.SiteFailures,
				SiteSlowdown: d.SiteSlowdown,
			},
		)
		return d.SiteDue.Sub(end)
	}
}

// A site that answers 429 waits longer each time. When it answers well again, the delay falls step by step, not at
// once.
func TestSlowdownOfASiteFallsStepByStep(t *testing.T) {
	p := Default()
	ask := asking(&p)
	for _, want := range []time.Duration{10 * s, 20 * s, 40 * s, 80 * s} {
		if got := ask(outcome.TooMany, 0); got != want {
			t.Errorf("asked to slow down: the wait is %v, want %v", got, want)
		}
	}
	last, answers := time.Hour, 0
	for ; answers < 99; answers++ {
		wait := ask(outcome.OK, 0)
		if wait == p.HostDelay {
			break
		}
		if wait >= last || wait < last*4/5 && last < time.Hour {
			t.Errorf("answer %d: from %v to %v", answers, last, wait)
		}
		last = wait
	}
	if answers != 15 {
		t.Errorf("the delay is normal after %d answers", answers)
	}
	if got := ask(outcome.TooMany, 0); got != 10*s {
		t.Errorf("429 after a normal delay: the wait is %v", got)
	}
}

// A site that refuses every second request is asked more and more slowly.
func TestASiteThatRefusesEverySecondRequestIsAskedMoreSlowly(t *testing.T) {
	p := Default()
	ask := asking(&p)
	var wait time.Duration
	for range 200 {
		ask(outcome.TooMany, 0)
		wait = ask(outcome.OK, 0)
	}
	if wait < p.SlowedDelayMax/2 || wait > p.SlowedDelayMax {
		t.Errorf("the wait is %v", wait)
	}
	for range 60 { // the site has recovered: the slowdown did not grow beyond its limit
		wait = ask(outcome.OK, 0)
	}
	if wait != p.HostDelay {
		t.Errorf("after 60 answers the wait is %v", wait)
	}
}

// Retry-After is respected and slows the site down less.
func TestRetryAfterIsRespectedAndSlowsLess(t *testing.T) {
	p := Default()
	ask := asking(&p)
	if got := ask(outcome.Unavailable, 2*m); got != 2*m {
		t.Errorf("%v", got)
	}
	if got := ask(outcome.OK, 0); got > p.HostDelay*5/4 {
		t.Errorf("then %v", got)
	}
	for range 4 {
		if got := ask(outcome.Unavailable, m); got < m {
			t.Errorf("%v", got)
		}
	}
	if got := ask(outcome.OK, 0); got < 2*p.HostDelay || got > 4*p.HostDelay {
		t.Errorf("after four 503 with Retry-After the wait is %v", got)
	}
}

// A page that is always unavailable counts once in its five tries. 429 counts each time.
func TestAPageThatIsNeverAvailableSlowsItsSiteOnce(t *testing.T) {
	p := Default()
	end := time.Unix(1e9, 0)
	for o, want := range map[outcome.Outcome]Slowdown{outcome.Unavailable: slowdownStep,
		outcome.TooMany: 5 * slowdownStep} {
		var d Decision
		for try := range 5 {
			d = p.Decide(
				Attempt{
					Outcome:      o,
					Try:          try,
					Started:      end,
					Ended:        end,
					SiteFailures: d.SiteFailures,
					SiteSlowdown: d.SiteSlowdown,
				},
			)
		}
		if d.SiteSlowdown != want {
			t.Errorf("five times %v: slowdown %d, want %d", o, d.SiteSlowdown, want)
		}
	}
}

// Each key lists outcomes of the sites of one IP address: a letter for the outcome and one for the site. The value is
// the wait of the IP address after the last one.
func TestAnIPSlowsDownWhenSeveralOfItsSitesFail(t *testing.T) {
	p := Default()
	what := map[byte]outcome.Outcome{
		'+': outcome.OK, '4': outcome.ClientError, 'm': outcome.TooMany, 'u': outcome.Unavailable, 'r': outcome.Reset,
		't': outcome.HeaderTimeout, 'c': outcome.ConnectTimeout, 'x': outcome.Refused, 's': outcome.TruncatedTime,
		'5': outcome.ServerError,
		'd': outcome.RobotsDenied, 'p': outcome.Protocol,
	}
	for outcomes, want := range map[string]time.Duration{
		"+a":                            s / 2,
		"ma":                            s / 2, // one site
		"ma ma ma ma ma":                s / 2, // still one site
		"ma mb":                         s,     // two sites
		"ra tb":                         s,
		"ca xb ud":                      2 * s,
		"sa sb":                         s,
		"ma +b mc":                      s / 2,                   // a good answer in between
		"ma 4b mc":                      s / 2,                   // 404 is a good answer
		"ma 5b mc":                      s,                       // 500 is not
		"ma pb mc":                      s,                       // nor a protocol error
		"ma db mc":                      s,                       // nor an outcome without a request
		"ma mb mc md me":                8 * s,                   // doubles with each
		"ma mb mc md me +a":             6730 * time.Millisecond, // falls
		"ma mb mc md me +a +a":          5660 * time.Millisecond, // step by step
		"ma mb mc md me +a +a +a +a":    4 * s,
		"ma mb +a +a +a +a +a mc":       s / 2,       // back to the plain delay
		"ma mb mc md me mf mg mh mi mj": time.Minute, // up to the limit
		"ma mb mc md me mf mg mh mi mj mk ml mm mn mo +a": 53820 * time.Millisecond, // from which it falls at once
	} {
		end := time.Unix(1e9, 0)
		var due time.Time
		var slowdown IPSlowdown
		for i := 0; i < len(outcomes); i += 3 {
			d := p.Decide(
				Attempt{
					Outcome:    what[outcomes[i]],
					SiteHash:   uint16(outcomes[i+1]),
					IPSlowdown: slowdown,
					Started:    end,
					Ended:      end,
				},
			)
			slowdown = UnpackIPSlowdown(d.IPSlowdown.Pack())
			if !d.IPDue.IsZero() {
				due = d.IPDue
			}
		}
		if got := due.Sub(end); (got - want).Abs() > want/100 {
			t.Errorf("%q: the wait of the IP address is %v, want %v", outcomes, got, want)
		}
	}
}

// A delay of 0 stays 0 with any slowdown.
func TestADelayOfZeroStaysZero(t *testing.T) {
	p := Policy{}.WithDefaults()
	end := time.Unix(1e9, 0)
	d := p.Decide(
		Attempt{
			Outcome:      outcome.OK,
			SiteSlowdown: 19,
			IPSlowdown:   IPSlowdown{19, 1},
			Started:      end,
			Ended:        end,
			Jitter:       math.MaxUint64,
		},
	)
	if !d.SiteDue.Equal(end) || !d.IPDue.Equal(end) {
		t.Errorf("%+v", d)
	}
}

// Every back-off wait has jitter, the same for the same bits.
func TestBackOffsAreJitteredAndDelaysAreNot(t *testing.T) {
	p := Default()
	end := time.Unix(1e9, 0)
	for _, c := range []struct {
		what         Attempt
		site, ip     bool
		longest, cap time.Duration
	}{
		{Attempt{Outcome: outcome.OK}, false, false, 4 * s, 4 * s},
		{Attempt{Outcome: outcome.OK, SiteSlowdown: 8}, true, false, 20 * s, 20 * s},
		{Attempt{Outcome: outcome.OK, IPSlowdown: IPSlowdown{5, 1}}, false, true, 4 * s, 4 * s},
		{Attempt{Outcome: outcome.TooMany}, true, false, 12500 * time.Millisecond, time.Hour},
		{Attempt{Outcome: outcome.TooMany, RetryAfter: m}, true, false, 75 * s, time.Hour},
		{Attempt{Outcome: outcome.TooMany, RetryAfter: 99 * time.Hour}, false, false, 24 * time.Hour, 24 * time.Hour},
		{Attempt{Outcome: outcome.Refused}, true, false, 12500 * time.Millisecond, time.Hour},
	} {
		t.Run(
			fmt.Sprint(c.what.Outcome, c.what.RetryAfter, c.what.SiteSlowdown, c.what.IPSlowdown),
			func(t *testing.T) {
				c.what.Started, c.what.Ended = end, end
				none := p.Decide(c.what)
				c.what.Jitter = math.MaxUint64
				most := p.Decide(c.what)
				if most != p.Decide(c.what) {
					t.Error("two waits with the same bits differ")
				}
				if (most.SiteDue.After(none.SiteDue)) != c.site || (most.IPDue.After(none.IPDue)) != c.ip {
					t.Errorf("without %+v, with %+v", none, most)
				}
				if got := most.SiteDue.Sub(end); got > c.longest {
					t.Errorf("%v", got)
				}
			},
		)
	}
}
