package politeness

import (
	"strings"
	"testing"
	"time"

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
			tries := map[outcome.Outcome]int{outcome.TooMany: 5, outcome.Unavailable: 3}[o]
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
	p.HostDelay, p.IPDelay = -1, 400*24*time.Hour
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
		"HostDelay", "IPDelay", "BackoffMax", "RetryDelays [2ns 1ns] must not decrease", "HostBackoff is empty",
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
