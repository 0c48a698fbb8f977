package politeness

import (
	"strings"
	"testing"
	"time"

	"orbweaver/engine/outcome"
)

// Every outcome has the row that its class calls for.
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
			ok = r == Rule{Contact: true, Effect: Forgives}
		case outcome.ClassBusy:
			tries := map[outcome.Outcome]int{outcome.TooMany: 5, outcome.Unavailable: 3}[o]
			ok = r.Contact && r.Retry && r.Tries == tries && r.SiteBackoff && r.Effect == Busy && r.KillAfter == 0
		case outcome.ClassFault:
			ok = r.Contact && (r.Tries == 3 || o == outcome.HeaderTooLarge || o == outcome.Stale) && r.KillAfter == 0 && !r.SiteBackoff
		case outcome.ClassHost:
			ok = r.Effect == Unreachable && r.KillAfter > 0
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
	p.Table[outcome.OK] = Rule{Tries: 7, KillAfter: -1, Effect: 9}
	p.Table[outcome.Reset] = Rule{SiteBackoff: true, KillAfter: 2}
	err := p.Validate()
	if err == nil {
		t.Fatal("no fault found")
	}
	for _, want := range []string{
		"HostDelay", "IPDelay", "BackoffMax", "RetryDelays [2ns 1ns] get shorter", "HostBackoff is empty",
		"ok must have Retry", "ok counts below zero", "ok has an unknown effect",
		"reset makes the site back off", "reset gives the site up",
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
