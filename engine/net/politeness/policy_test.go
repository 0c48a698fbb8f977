package politeness

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/options"
	"orbweaver/internal/outcome"
)

// Every outcome has the row that its class needs.
func TestTableIsWhole(t *testing.T) {
	p := Default()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	if p.Table[outcome.None] != (Rule{}) {
		t.Error("None has a row")
	}
	for o := outcome.None + 1; int(o) < outcome.Count; o++ {
		r := p.Table[o]
		ok := false
		switch o.Class() {
		case outcome.ClassAnswer:
			ok = r == Rule{Contact: true, Effect: ResetsFailures}
		case outcome.ClassBusy:
			tries := map[outcome.Outcome]int{outcome.TooMany: 5, outcome.Unavailable: 3, outcome.Wall: 5}[o]
			ok = r.Contact && r.Retry && r.Tries == tries && r.SiteBackoff && r.Effect == Busy && r.GiveUpAfter == 0
		case outcome.ClassFault:
			ok = r.Contact && (r.Tries == 3 || o == outcome.HeaderTooLarge || o == outcome.Stale) &&
				r.GiveUpAfter == 0 &&
				!r.SiteBackoff
		case outcome.ClassHost:
			ok = r.Effect == Unreachable && r.GiveUpAfter > 0
		case outcome.ClassRefusal:
			ok = r == Rule{} || o == outcome.Cancelled
		case outcome.ClassNone:
		}
		if !ok {
			t.Errorf("%v, class %d: %+v", o, o.Class(), r)
		}
	}
}

func TestValidateFindsAllFaults(t *testing.T) {
	p := Default()
	p.RetryAfterMax, p.SlowedIPDelayMax = -1, 400*24*time.Hour
	p.BackoffMin, p.BackoffMax = time.Hour, time.Minute
	p.RetryDelays = []time.Duration{2, 1}
	p.HostBackoff = []time.Duration{}
	p.Table[outcome.OK] = Rule{Tries: 7, GiveUpAfter: -1, Effect: 9}
	p.Table[outcome.Reset] = Rule{SiteBackoff: true, GiveUpAfter: 2}
	err := p.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{
		"RetryAfterMax is -1ns", "SlowedIPDelayMax is 9600h0m0s",
		"BackoffMax", "RetryDelays [2ns 1ns] must not decrease", "HostBackoff is empty",
		"ok must have Retry", "ok must not have negative Tries or GiveUpAfter", "ok has an unknown effect",
		"reset has SiteBackoff", "reset has GiveUpAfter",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in:\n%v", want, err)
		}
	}
}

func TestWithDefaultsKeepsZeroDelays(t *testing.T) {
	p := Policy{}.WithDefaults()
	if p.HostDelay != 0 || p.IPDelay != 0 {
		t.Error(p.HostDelay, p.IPDelay)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	p.Table[outcome.OK].Tries = 3
	p.Table[outcome.OK].Retry = true
	if q := p.WithDefaults(); q.Table != p.Table {
		t.Error("WithDefaults overwrote a table")
	}
}

// Each duration without a flag is checked under the name of its field.
func TestValidate_namesTheField(t *testing.T) {
	p := Default()
	for field, value := range reflect.ValueOf(&p).Elem().Fields() {
		d, ok := value.Addr().Interface().(*time.Duration)
		if !ok || field.Tag.Get("help") != "" {
			continue
		}
		before := *d
		*d = durationMax + 1
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "politeness: "+field.Name+" is ") {
			t.Errorf("%s: %v", field.Name, err)
		}
		*d = before
	}
}

// The flags have their range in their tags, and the fault names the flag.
func TestOptions_aDelayBeyondAYearIsNamedByItsFlag(t *testing.T) {
	p := Default()
	p.HostDelay = 400 * 24 * time.Hour
	const want = "--host-delay: 9600h0m0s is not between 0 and 366d"
	if err := options.Check(&p); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	p.HostDelay = 366 * 24 * time.Hour
	if err := options.Check(&p); err != nil || p.Validate() != nil {
		t.Error(err, p.Validate())
	}
}

// With the longest of all durations, the site and the address are due within the sum of a few of them, in the future.
func TestDecide_theLongestDurationsDoNotOverflow(t *testing.T) {
	p := Default()
	for _, d := range []*time.Duration{
		&p.HostDelay, &p.IPDelay, &p.CrawlDelayMax, &p.RetryAfterMax, &p.BackoffMin, &p.BackoffMax, &p.SlowedDelayMax,
		&p.SlowedIPDelayMax,
	} {
		*d = durationMax
	}
	now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	for o := outcome.None + 1; int(o) < outcome.Count; o++ {
		d := p.Decide(Attempt{
			Outcome: o, Started: now, Ended: now, CrawlDelay: math.MaxInt64, RetryAfter: math.MaxInt64,
			GroupDelay: durationMax, SiteSlowdown: slowdownMax, SiteHash: 3, Jitter: math.MaxUint64,
			IPSlowdown: IPSlowdown{Level: slowdownMax, SiteHash: 1},
		})
		for _, due := range []time.Time{d.SiteDue, d.IPDue} {
			if !due.IsZero() && (due.Before(now.Add(durationMax)) || due.After(now.Add(2*durationMax))) {
				t.Errorf("%v: due %v", o, due)
			}
		}
	}
}
