package politeness

import (
	"fmt"
	"math"
	"testing"
	"time"

	"orbweaver/engine/outcome"
)

// site is what one site's sake looks like to who asks it again and again: each call is one attempt, and gives the wait.
func asking(p *Policy) func(o outcome.Outcome, retryAfter time.Duration) time.Duration {
	var d Decision
	end := time.Unix(1e9, 0)
	return func(o outcome.Outcome, retryAfter time.Duration) time.Duration {
		d = p.Decide(Attempt{Outcome: o, RetryAfter: retryAfter, Started: end, Ended: end, SiteFailures: d.SiteFailures, SiteStrain: d.SiteStrain})
		return d.SiteDue.Sub(end)
	}
}

// A site that says "too many" is left alone for ever longer; when it answers again, it is asked faster bit by bit, not at once.
func TestASiteThatWasAskedTooMuchIsForgivenBitByBit(t *testing.T) {
	p := Default()
	ask := asking(&p)
	for _, want := range []time.Duration{10 * s, 20 * s, 40 * s, 80 * s} {
		if got := ask(outcome.TooMany, 0); got != want {
			t.Errorf("asked to slow down: it waits %v, not %v", got, want)
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
		t.Errorf("forgiven after %d answers", answers)
	}
	if got := ask(outcome.TooMany, 0); got != 10*s {
		t.Errorf("after all was forgiven the next begins at %v", got)
	}
}

// A site that bears every third request is asked at a pace that it bears, however long that takes.
func TestASiteThatRefusesEverySecondRequestIsAskedEverSlower(t *testing.T) {
	p := Default()
	ask := asking(&p)
	var wait time.Duration
	for range 200 {
		ask(outcome.TooMany, 0)
		wait = ask(outcome.OK, 0)
	}
	if wait < p.StretchMax/2 || wait > p.StretchMax {
		t.Errorf("it is asked every %v", wait)
	}
	for range 60 { // it has recovered: what was beyond the cap is not held against it
		wait = ask(outcome.OK, 0)
	}
	if wait != p.HostDelay {
		t.Errorf("after 60 answers it is asked every %v", wait)
	}
}

// Who says how long to wait is believed; the pace suffers less.
func TestRetryAfterIsWaitedForAndHardlyRemembered(t *testing.T) {
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
		t.Errorf("after four in a row %v", got)
	}
}

// A page that is never available is not the whole site: of its five tries one counts. Too many requests are too many each time.
func TestAPageThatIsNeverAvailableStrainsItsSiteOnce(t *testing.T) {
	p := Default()
	end := time.Unix(1e9, 0)
	for o, want := range map[outcome.Outcome]Strain{outcome.Unavailable: strainTrouble, outcome.TooMany: 5 * strainTrouble} {
		var d Decision
		for try := range 5 {
			d = p.Decide(Attempt{Outcome: o, Try: try, Started: end, Ended: end, SiteFailures: d.SiteFailures, SiteStrain: d.SiteStrain})
		}
		if d.SiteStrain != want {
			t.Errorf("five of %v: a strain of %d, not %d", o, d.SiteStrain, want)
		}
	}
}

// stories are outcomes of the sites of one IP, and how long the IP waits after the last: a letter for each, and for the site.
func TestAnIPSlowsDownWhenSeveralOfItsSitesAreInTrouble(t *testing.T) {
	p := Default()
	what := map[byte]outcome.Outcome{
		'+': outcome.OK, '4': outcome.ClientError, 'm': outcome.TooMany, 'u': outcome.Unavailable, 'r': outcome.Reset,
		't': outcome.HeaderTimeout, 'c': outcome.ConnectTimeout, 'x': outcome.Refused, 's': outcome.CutTime, '5': outcome.ServerError,
		'd': outcome.RobotsDenied, 'p': outcome.Protocol,
	}
	for story, want := range map[string]time.Duration{
		"+a":                            s / 2,
		"ma":                            s / 2, // one site
		"ma ma ma ma ma":                s / 2, // still one
		"ma mb":                         s,     // two
		"ra tb":                         s,
		"ca xb ud":                      2 * s,
		"sa sb":                         s,
		"ma +b mc":                      s / 2,                   // a good answer in between
		"ma 4b mc":                      s / 2,                   // and that is one
		"ma 5b mc":                      s,                       // and that is none
		"ma pb mc":                      s,                       // nor that
		"ma db mc":                      s,                       // nor is what nobody was asked for
		"ma mb mc md me":                8 * s,                   // doubles
		"ma mb mc md me +a":             6730 * time.Millisecond, // forgives
		"ma mb mc md me +a +a":          5660 * time.Millisecond, // step by step
		"ma mb mc md me +a +a +a +a":    4 * s,
		"ma mb +a +a +a +a +a mc":       s / 2,       // all forgotten
		"ma mb mc md me mf mg mh mi mj": time.Minute, // up to the cap
		"ma mb mc md me mf mg mh mi mj mk ml mm mn mo +a": 53820 * time.Millisecond, // from which it comes down at once
	} {
		end := time.Unix(1e9, 0)
		var due time.Time
		var strain IPStrain
		for i := 0; i < len(story); i += 3 {
			d := p.Decide(Attempt{Outcome: what[story[i]], Site: uint16(story[i+1]), IPStrain: strain, Started: end, Ended: end})
			strain = UnpackIPStrain(d.IPStrain.Pack())
			if !d.IPDue.IsZero() {
				due = d.IPDue
			}
		}
		if got := due.Sub(end); (got - want).Abs() > want/100 {
			t.Errorf("%q: the IP waits %v, not %v", story, got, want)
		}
	}
}

// Without a delay there is nothing to stretch: who sets none means it.
func TestNoDelayIsNotStretched(t *testing.T) {
	p := Policy{}.WithDefaults()
	end := time.Unix(1e9, 0)
	d := p.Decide(Attempt{Outcome: outcome.OK, SiteStrain: 19, IPStrain: IPStrain{19, 1}, Started: end, Ended: end, Jitter: math.MaxUint64})
	if !d.SiteDue.Equal(end) || !d.IPDue.Equal(end) {
		t.Errorf("%+v", d)
	}
}

// Every wait that is a back-off is jittered, the same way for the same bits.
func TestBackOffsAreJitteredAndDelaysAreNot(t *testing.T) {
	p := Default()
	end := time.Unix(1e9, 0)
	for _, c := range []struct {
		what         Attempt
		site, ip     bool
		longest, cap time.Duration
	}{
		{Attempt{Outcome: outcome.OK}, false, false, 4 * s, 4 * s},
		{Attempt{Outcome: outcome.OK, SiteStrain: 8}, true, false, 20 * s, 20 * s},
		{Attempt{Outcome: outcome.OK, IPStrain: IPStrain{5, 1}}, false, true, 4 * s, 4 * s},
		{Attempt{Outcome: outcome.TooMany}, true, false, 12500 * time.Millisecond, time.Hour},
		{Attempt{Outcome: outcome.TooMany, RetryAfter: m}, true, false, 75 * s, time.Hour},
		{Attempt{Outcome: outcome.TooMany, RetryAfter: 99 * time.Hour}, false, false, 24 * time.Hour, 24 * time.Hour},
		{Attempt{Outcome: outcome.Refused}, true, false, 12500 * time.Millisecond, time.Hour},
	} {
		t.Run(fmt.Sprint(c.what.Outcome, c.what.RetryAfter, c.what.SiteStrain, c.what.IPStrain), func(t *testing.T) {
			c.what.Started, c.what.Ended = end, end
			none := p.Decide(c.what)
			c.what.Jitter = math.MaxUint64
			most := p.Decide(c.what)
			if most != p.Decide(c.what) {
				t.Error("it is not the same again")
			}
			if (most.SiteDue.After(none.SiteDue)) != c.site || (most.IPDue.After(none.IPDue)) != c.ip {
				t.Errorf("without %+v, with %+v", none, most)
			}
			if got := most.SiteDue.Sub(end); got > c.longest {
				t.Errorf("%v", got)
			}
		})
	}
}
