package engine

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/outcome"
)

// weather tells a network of attempts, and what it says.
type weather struct {
	*network
	now  time.Time
	said []string
}

func newWeather(workers int) *weather {
	w := &weather{now: time.Unix(1e9, 0)}
	w.network = newNetwork(workers, func(msg string, _ ...any) { w.said = append(w.said, msg) })
	return w
}

// try makes an attempt that takes so long at the ith site, which answered before.
func (w *weather) try(i int, o outcome.Outcome, took time.Duration) (counts bool) {
	return w.attempt(i, o, took, true)
}

func (w *weather) attempt(i int, o outcome.Outcome, took time.Duration, answered bool) (counts bool) {
	a := attempt{addr: netip.AddrFrom4([4]byte{8, 8, byte(i >> 8), byte(i)}), outcome: o, answered: answered, began: w.now, busy: w.limit.Load()}
	w.now = w.now.Add(took)
	a.ended = w.now
	if o.Class() != outcome.ClassHost {
		a.connected = a.began
	}
	return w.blames(&a)
}

func TestHostile_N20_whenNobodyIsReachedNobodyIsBlamed(t *testing.T) {
	for _, o := range []outcome.Outcome{outcome.ConnectTimeout, outcome.Unreachable} {
		w := newWeather(100)
		w.try(0, outcome.OK, time.Second)
		for i := range 5 {
			if !w.try(i, o, time.Second) {
				t.Errorf("%v: the %dth to fall silent is not blamed", o, i+1)
			}
		}
		for i := range 1000 {
			if w.attempt(i+5, o, time.Second, i == 0) { // from here on also those that had failed before
				t.Fatalf("%v: a site is blamed while nobody can be reached", o)
			}
		}
		if down, _ := w.state(); down.IsZero() || len(w.said) != 1 {
			t.Errorf("%v: down since %v, said %q", o, down, w.said)
		}
		late := attempt{addr: netip.MustParseAddr("9.9.9.9"), outcome: o, answered: true, began: w.now}
		w.try(0, outcome.ClientError, time.Second)
		if late.ended = w.now.Add(time.Second); w.blames(&late) {
			t.Errorf("%v: an attempt that began before it was over counts", o)
		}
		if down, _ := w.state(); !down.IsZero() || len(w.said) != 2 {
			t.Errorf("%v: down since %v, said %q", o, down, w.said)
		}
		w.now = w.now.Add(time.Minute)
		if !w.try(1, o, time.Second) {
			t.Errorf("%v: a site that fails afterwards is not blamed", o)
		}
	}
}

func TestNetwork_isNotBlamedForSites(t *testing.T) {
	for name, story := range map[string]func(w *weather, i int) bool{
		"others answer in between": func(w *weather, i int) bool {
			if i%3 == 2 {
				w.try(0, outcome.OK, time.Second)
			}
			return w.try(i, outcome.Unreachable, time.Second)
		},
		"they never answered":          func(w *weather, i int) bool { return w.attempt(i, outcome.Unreachable, time.Second, false) },
		"they refuse":                  func(w *weather, i int) bool { return w.try(i, outcome.Refused, time.Second) },
		"they share three addresses":   func(w *weather, i int) bool { return w.try(i%3, outcome.Unreachable, time.Second) },
		"others are busy or misbehave": func(w *weather, i int) bool { return w.try(i, outcome.Outcome(1+i%int(outcome.Reset)), time.Second) },
	} {
		w := newWeather(100)
		for i := range 500 {
			if !story(w, i) {
				t.Errorf("%s: the %dth does not count", name, i)
				break
			}
		}
		if len(w.said) > 0 {
			t.Errorf("%s: %q", name, w.said)
		}
	}
}

// An exchange whose connection was made before the network went down ends after that, by a deadline. It does not say that the network is up.
func TestNetwork_anOldConnectionSaysNothing(t *testing.T) {
	w := newWeather(100)
	old := attempt{addr: netip.MustParseAddr("9.9.9.9"), outcome: outcome.HeaderTimeout, answered: true, began: w.now, connected: w.now}
	w.now = w.now.Add(time.Second)
	for i := range 4 {
		w.try(i, outcome.Unreachable, time.Second)
		if old.ended = w.now; !w.blames(&old) {
			t.Error("a header that does not come counts")
		}
	}
	w.try(5, outcome.Unreachable, 2*time.Second)
	if down, _ := w.state(); down.IsZero() {
		t.Error("old connections are taken for reached sites")
	}
	for range 100 {
		w.try(9, outcome.Stale, time.Second)
	}
	if down, _ := w.state(); down.IsZero() {
		t.Error("a kept connection that has ended is taken for a reached site")
	}
}

// After a day without anybody the sites are blamed again, so that every crawl ends.
func TestNetwork_patienceEnds(t *testing.T) {
	w := newWeather(100)
	for i := range 6 {
		w.try(i, outcome.Unreachable, time.Second)
	}
	if w.try(1, outcome.Refused, time.Second) {
		t.Error("who refuses is blamed while nobody can be reached")
	}
	w.now = w.now.Add(networkPatience)
	if !w.try(1, outcome.Refused, time.Second) {
		t.Error("nobody is ever blamed")
	}
}

// When a third of the connections times out fewer workers go on, and all of them when it is over.
func TestHostile_N19_timeOutsOfGoodSitesSlowTheCrawlDown(t *testing.T) {
	w := newWeather(1000)
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
	if _, workers := w.state(); workers != 1000 || len(w.said) != 0 {
		t.Errorf("%d workers, said %q", workers, w.said)
	}
	before := 1000
	for range 5 {
		step(33)
		_, workers := w.state()
		if workers >= before {
			t.Errorf("%d workers after %d", workers, before)
		}
		before = workers
	}
	for range 20 {
		step(33)
	}
	if _, workers := w.state(); workers != workersLeast || len(w.said) != 1 {
		t.Errorf("%d workers, said %q", workers, w.said)
	}
	for range 60 {
		step(0)
	}
	if _, workers := w.state(); workers != 1000 || len(w.said) != 2 {
		t.Errorf("%d workers, said %q", workers, w.said)
	}
}

func TestNetwork_holdsWorkersBackUntilThereIsRoomOrAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeather(100)
		w.limit.Store(10)
		passed := make(chan int, 100)
		stopping := make(chan struct{})
		for id := range 100 {
			go func() {
				w.wait(t.Context(), id, stopping)
				passed <- id
			}()
		}
		synctest.Wait()
		if len(passed) != 10 {
			t.Errorf("%d workers went on", len(passed))
		}
		for range 400 {
			w.try(1, outcome.OK, 100*time.Millisecond)
		}
		synctest.Wait()
		if _, workers := w.state(); len(passed) != workers || workers <= 10 {
			t.Errorf("%d workers went on of %d", len(passed), workers)
		}
		close(stopping)
		synctest.Wait()
		if len(passed) != 100 {
			t.Errorf("%d workers went on after the stop: %v", len(passed), fmt.Sprint(passed))
		}
	})
}
