package ownership

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// twoViews are a view of this agent and another, one of this agent alone, and a site of the other agent in the first.
func twoViews(t *testing.T) (both, alone *View, site []byte) {
	t.Helper()
	one, two := Agent{ID: "one", Capacity: 1, Store: 1}, Agent{ID: "two", Capacity: 1, Store: 2}
	both, err := NewView(Consistent, []Agent{one, two}, nil, 0, "one")
	if err != nil {
		t.Fatal(err)
	}
	if alone, err = NewView(Consistent, []Agent{one}, nil, 0, "one"); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if site = fmt.Appendf(nil, "http://h%d.test", i); !both.Owns(site) {
			return both, alone, site
		}
	}
}

// A host that another agent owned rests for the grace period. If that agent hands it over, the host waits for its delay
// alone. A new view forgets what was handed over under the one before.
func TestTimeline_aHostThatWasHandedOverWaitsForItsDelayAlone(t *testing.T) {
	const grace = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		both, alone, site := twoViews(t)
		v := NewTimeline(grace)
		v.Arrive(time.Time{})
		v.Replace(both, time.Now())
		time.Sleep(time.Minute)
		replaced := time.Now()
		v.Replace(alone, replaced)
		if due := v.NotBefore(site); !due.Equal(replaced.Add(grace)) {
			t.Errorf("it rests until %v", due.Sub(replaced))
		}
		v.NoteHandedOver(site, replaced.Add(3*time.Second))
		if due := v.NotBefore(site); !due.Equal(replaced.Add(3 * time.Second)) {
			t.Errorf("it was handed over, and may be visited after %v", due.Sub(replaced))
		}
		time.Sleep(3 * time.Second)
		if due := v.NotBefore(site); !due.IsZero() {
			t.Errorf("its delay has passed, and it waits until %v", due.Sub(replaced))
		}
		v.Replace(both, time.Now())
		v.Replace(alone, time.Now())
		if due := v.NotBefore(site); !due.Equal(time.Now().Add(grace)) {
			t.Errorf("under another view it rests until %v", due.Sub(replaced))
		}
	})
}

// An agent is a member, and has owned a site, as long as the view in which it was is recent; and then no longer.
func TestTimeline_formerOwnersAreKnownForTheGracePeriod(t *testing.T) {
	const grace = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		both, alone, site := twoViews(t)
		v := NewTimeline(grace)
		v.Arrive(time.Time{})
		v.Replace(both, time.Now())
		if !v.HasMember("two") || !v.HasOwned("two", site, false) || v.HasOwned("one", site, false) ||
			v.LastOwner(site) != "" {
			t.Errorf("under the first view: %v, %q", v.HasOwned("two", site, false), v.LastOwner(site))
		}
		v.Replace(alone, time.Now())
		if !v.HasMember("two") || !v.HasOwned("two", site, false) || !v.HadView(both.Hash()) ||
			v.LastOwner(site) != "two" {
			t.Errorf("just after: %v, %q", v.HasOwned("two", site, false), v.LastOwner(site))
		}
		time.Sleep(grace)
		v.Replace(alone, time.Now())
		if v.HasMember("two") || v.HasOwned("two", site, false) || v.HadView(both.Hash()) {
			t.Error("after the grace period the other agent is still known")
		}
	})
}

// An agent that joins late believes the agent that owned its hosts before, for ten minutes. So does an agent that has
// not arrived, but not an agent that began with the others.
func TestTimeline_aLateAgentBelievesThePreviousOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both, _, theirs := twoViews(t)
		site := theirs
		for i := 0; !both.Owns(site); i++ {
			site = fmt.Appendf(nil, "http://own%d.test", i)
		}
		v := NewTimeline(10 * time.Second)
		v.Replace(both, time.Now())
		if v.HasArrived() || !v.HasOwned("two", site, true) || v.HasOwned("two", site, false) {
			t.Error("before the arrival")
		}
		v.Arrive(time.Now().Add(v.Grace))
		if !v.HasArrived() || !v.HasOwned("two", site, true) || v.LastOwner(site) != "two" {
			t.Error("after the arrival")
		}
		if due := v.NotBefore(site); !due.Equal(time.Now().Add(v.Grace)) {
			t.Errorf("its own host rests until %v", due)
		}
		time.Sleep(v.Grace + handoffTime + 1)
		if v.HasOwned("two", site, true) {
			t.Error("ten minutes later it still believes")
		}
		v.Arrive(time.Time{})
		if v.HasOwned("two", site, true) || !v.NotBefore(site).IsZero() {
			t.Error("it began with the others")
		}
	})
}
