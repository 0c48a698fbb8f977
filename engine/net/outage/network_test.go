package outage

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// testNetwork reports attempts to a Network in virtual time, and collects what it logs.
type testNetwork struct {
	*Network
	now    time.Time
	logged []string
}

func newTestNetwork(workers int) *testNetwork {
	w := &testNetwork{now: time.Unix(1e9, 0)}
	w.Network = NewNetwork(workers, func(msg string, _ ...any) { w.logged = append(w.logged, msg) })
	return w
}

// try reports an attempt of duration took at the ith site, which answered before.
func (w *testNetwork) try(i int, o outcome.Outcome, took time.Duration) (counts bool) {
	return w.attempt(i, o, took, true)
}

func (w *testNetwork) attempt(i int, o outcome.Outcome, took time.Duration, answered bool) (counts bool) {
	a := Attempt{
		Addr:           netip.AddrFrom4([4]byte{8, 8, byte(i >> 8), byte(i)}),
		Outcome:        o,
		AnsweredBefore: answered,
		BeganAt:        w.now,
		BusyWorkers:    w.workerLimit.Load(),
	}
	w.now = w.now.Add(took)
	a.EndedAt = w.now
	if o.Class() != outcome.ClassHost {
		a.ConnectedAt = a.BeganAt
	}
	return w.Observe(&a)
}

func TestHostile_N20_noFailureCountsWhileNoSiteIsReached(t *testing.T) {
	for _, o := range []outcome.Outcome{outcome.ConnectTimeout, outcome.Unreachable} {
		w := newTestNetwork(100)
		w.try(0, outcome.OK, time.Second)
		for i := range 5 {
			if !w.try(i, o, time.Second) {
				t.Errorf("%v: failure %d already starts an outage", o, i+1)
			}
		}
		for i := range 1000 {
			if w.attempt(i+5, o, time.Second, i == 0) { // from here on also sites that did not answer before
				t.Fatalf("%v: a failure counts while no site can be reached", o)
			}
		}
		if down, _ := w.State(); down.IsZero() || len(w.logged) != 1 {
			t.Errorf("%v: down since %v, logged %q", o, down, w.logged)
		}
		late := Attempt{Addr: netip.MustParseAddr("9.9.9.9"), Outcome: o, AnsweredBefore: true, BeganAt: w.now}
		w.try(0, outcome.ClientError, time.Second)
		if late.EndedAt = w.now.Add(time.Second); w.Observe(&late) {
			t.Errorf("%v: an attempt that began during the outage counts", o)
		}
		if down, _ := w.State(); !down.IsZero() || len(w.logged) != 2 {
			t.Errorf("%v: down since %v, logged %q", o, down, w.logged)
		}
		w.now = w.now.Add(time.Minute)
		if !w.try(1, o, time.Second) {
			t.Errorf("%v: a failure after the outage does not count", o)
		}
	}
}

func TestNetwork_faultsOfSitesAreNoOutage(t *testing.T) {
	for name, story := range map[string]func(w *testNetwork, i int) bool{
		"other sites answer in between": func(w *testNetwork, i int) bool {
			if i%3 == 2 {
				w.try(0, outcome.OK, time.Second)
			}
			return w.try(i, outcome.Unreachable, time.Second)
		},
		"they never answered": func(w *testNetwork,
			i int) bool {
			return w.attempt(i, outcome.Unreachable, time.Second, false)
		},
		"they refuse": func(w *testNetwork, i int) bool { return w.try(i, outcome.Refused, time.Second) },
		"they share three addresses": func(w *testNetwork,
			i int) bool {
			return w.try(i%3, outcome.Unreachable, time.Second)
		},
		"they send slow or wrong responses": func(w *testNetwork, i int) bool {
			return w.try(i, outcome.Outcome(1+i%int(outcome.Reset)), time.Second)
		},
	} {
		w := newTestNetwork(100)
		for i := range 500 {
			if !story(w, i) {
				t.Errorf("%s: failure %d does not count", name, i)
				break
			}
		}
		if len(w.logged) > 0 {
			t.Errorf("%s: %q", name, w.logged)
		}
	}
}

// An exchange that connected before the outage ends later by a deadline. This must not end the outage.
func TestNetwork_anOldConnectionDoesNotEndAnOutage(t *testing.T) {
	w := newTestNetwork(100)
	old := Attempt{
		Addr:           netip.MustParseAddr("9.9.9.9"),
		Outcome:        outcome.HeaderTimeout,
		AnsweredBefore: true,
		BeganAt:        w.now,
		ConnectedAt:    w.now,
	}
	w.now = w.now.Add(time.Second)
	for i := range 4 {
		w.try(i, outcome.Unreachable, time.Second)
		if old.EndedAt = w.now; !w.Observe(&old) {
			t.Error("a missing header does not count")
		}
	}
	w.try(5, outcome.Unreachable, 2*time.Second)
	if down, _ := w.State(); down.IsZero() {
		t.Error("a failure on an old connection ends the outage")
	}
	for range 100 {
		w.try(9, outcome.Stale, time.Second)
	}
	if down, _ := w.State(); down.IsZero() {
		t.Error("a stale connection ends the outage")
	}
}

// After networkDownMax, failures count against sites again, so that every crawl ends.
func TestNetwork_failuresCountAgainAfterADay(t *testing.T) {
	w := newTestNetwork(100)
	for i := range 6 {
		w.try(i, outcome.Unreachable, time.Second)
	}
	if w.try(1, outcome.Refused, time.Second) {
		t.Error("a refused connection counts during an outage")
	}
	w.now = w.now.Add(networkDownMax)
	if !w.try(1, outcome.Refused, time.Second) {
		t.Error("failures never count again")
	}
}

// When a third of the connections times out, workers are held back; all are active again when the timeouts end.
func TestHostile_N19_timeOutsOfGoodSitesSlowTheCrawlDown(t *testing.T) {
	w := newTestNetwork(1000)
	step := func(lost int) {
		for i := range 1000 {
			o := outcome.OK
			if i*37%100 < lost {
				o = outcome.ConnectTimeout
			}
			w.try(i, o, 20*time.Millisecond)
		}
	}
	step(2)
	if _, workers := w.State(); workers != 1000 || len(w.logged) != 0 {
		t.Errorf("%d workers, logged %q", workers, w.logged)
	}
	before := 1000
	for range 5 {
		step(33)
		_, workers := w.State()
		if workers >= before {
			t.Errorf("%d workers after %d", workers, before)
		}
		before = workers
	}
	for range 4 {
		step(33)
	}
	if _, workers := w.State(); workers != workersMin || len(w.logged) != 1 {
		t.Errorf("%d workers, logged %q", workers, w.logged)
	}
	for range 60 {
		step(0)
	}
	if _, workers := w.State(); workers != 1000 || len(w.logged) != 2 {
		t.Errorf("%d workers, logged %q", workers, w.logged)
	}
}

// Sites time out on purpose, and as many with 8 workers as with 1000. After some minutes all workers are active again,
// for an hour. Then the crawl looks again.
func TestHostile_X06_timeOutsThatFewerWorkersDoNotEnd(t *testing.T) {
	w := newTestNetwork(1000)
	held, began := time.Duration(0), w.now
	for w.now.Sub(began) < 10*time.Hour {
		before := w.now
		for i := range 400 {
			o := outcome.OK
			if i%2 == 0 {
				o = outcome.ConnectTimeout
			}
			w.try(i, o, 50*time.Millisecond)
		}
		if _, workers := w.State(); workers < 1000 {
			held += w.now.Sub(before)
		}
	}
	if held > 50*time.Minute || held < 20*time.Minute {
		t.Errorf("workers are held back for %v in 10 hours", held)
	}
	if _, workers := w.State(); len(w.logged) < 2*8 || workers < 1 {
		t.Errorf("logged %q", w.logged)
	}
}
