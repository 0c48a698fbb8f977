package outage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// testWay reports exchanges to a Way in virtual time, one in a second, and collects what it logs.
type testWay struct {
	*Way
	now    time.Time
	logged []string
}

func newTestWay() *testWay {
	w := &testWay{now: time.Unix(1e9, 0)}
	w.Way = NewWay(func(host []byte) []byte {
		labels := strings.Split(string(host), ".")
		return []byte(strings.Join(labels[max(len(labels)-2, 0):], "."))
	}, func(msg string, _ ...any) { w.logged = append(w.logged, msg) })
	return w
}

func site(i int) []byte { return fmt.Appendf(nil, "www.s%d.test", i) }

// fault is an exchange with the ith site that fails on the way.
func (w *testWay) fault(i int, f outcome.Way) (down bool) {
	w.now = w.now.Add(time.Second)
	return w.NoteFault(f, site(i), "cause", w.now)
}

// answer is an answer of the ith site. size is the length of its page.
func (w *testWay) answer(i, size int) Suspicion {
	return w.note(i, Answer{Status: 200, Payload: make([]byte, size)})
}

// away is a redirect of the ith site.
func (w *testWay) away(i int, target string) Suspicion {
	return w.note(i, Answer{Status: 302, Kind: AwayAnswer, Target: []byte(target)})
}

func (w *testWay) note(i int, a Answer) Suspicion {
	w.now = w.now.Add(time.Second)
	a.Host, a.Served, a.FirstByte, a.EndedAt = site(i), i >= 0, w.now, w.now
	return w.NoteAnswer(&a)
}

// Each fault is said at once with its remedy. When many sites have it and none answers, it is an outage. The first
// answer ends it.
func TestWay_aFaultOfAllSitesIsAnOutage(t *testing.T) {
	for _, f := range []outcome.Way{outcome.WayDown, outcome.WayLocked, outcome.WayPortal, outcome.WayRefused} {
		w := newTestWay()
		w.answer(0, 10)
		for i := range 5 {
			if w.fault(i, f) {
				t.Errorf("fault %d: %d sites in %d s are an outage", f, i+1, i)
			}
		}
		if len(w.logged) != 1 {
			t.Errorf("fault %d: logged %q", f, w.logged)
		}
		for i := range 100 {
			if !w.fault(i+5, f) {
				t.Fatalf("fault %d: a failure counts in an outage", f)
			}
		}
		if s := w.State(w.now); !s.IsDown || s.FailingSince.IsZero() || s.Fault == "" || s.Remedy == "" {
			t.Errorf("fault %d: %+v", f, s)
		}
		asked := 0
		for i := range 1000 { // a second
			if w.MayAsk(w.now.Add(time.Duration(i) * time.Millisecond)) {
				asked++
			}
		}
		if asked != 10 {
			t.Errorf("fault %d: %d exchanges in a second of the outage", f, asked)
		}
		w.answer(3, 10)
		if s := w.State(w.now); s != (WayState{}) || !w.MayAsk(w.now) || !w.MayAsk(w.now) || len(w.logged) != 3 {
			t.Errorf("fault %d: after an answer: %+v, logged %q", f, s, w.logged)
		}
	}
}

// A few sites that fail on the way are no outage, however long, and neither are many while others answer.
func TestWay_aFewSitesHoldNoOtherBack(t *testing.T) {
	for name, story := range map[string]func(w *testWay, i int) bool{
		"three sites": func(w *testWay, i int) bool { return w.fault(i%3, outcome.WayLocked) },
		"others answer": func(w *testWay, i int) bool {
			if i%4 == 3 {
				w.answer(10_000, i)
			}
			return w.fault(i, outcome.WayPortal)
		},
	} {
		w := newTestWay()
		for i := range 1000 {
			if story(w, i) {
				t.Fatalf("%s: an outage after %d faults", name, i+1)
			}
		}
	}
}

// An answer that was on its way before the outage does not end it.
func TestWay_anOldAnswerDoesNotEndAnOutage(t *testing.T) {
	w := newTestWay()
	before := w.now
	for i := range 10 {
		w.fault(i, outcome.WayLocked)
	}
	w.NoteAnswer(&Answer{Host: site(1), Status: 200, FirstByte: before, EndedAt: w.now.Add(time.Second)})
	if !w.State(w.now).IsDown {
		t.Error("it has ended")
	}
}

// All sites redirect to the host of a login page from one moment on. Two answers are taken for answers of sites, and
// none of a new site. When a page comes again, the outage is over. The same portal is recognised again at once.
func TestWay_aCaptivePortalIsRecognisedByItsThirdAnswer(t *testing.T) {
	w := newTestWay()
	for i := range 40 {
		w.answer(i%20, i)
	}
	for range 2 {
		believed := 0
		for i := range 40 {
			who := i%20 - i%2*20 // every second one is of a site that has never served a page
			if w.away(who, "login.cafe.test") == Believed {
				believed++
			}
		}
		if s := w.State(w.now); believed > 4 || !s.IsDown || !strings.Contains(s.Fault, "login") {
			t.Errorf("%d answers were believed: %+v", believed, s)
		}
		for i := range 3 {
			if w.answer(i, 1000+i) != Believed {
				t.Error("a page is not believed")
			}
		}
		if s := w.State(w.now); s != (WayState{}) {
			t.Errorf("afterwards: %+v", s)
		}
	}
}

// Redirects of many sites to one host are common: names that are parked, of one company, of a site that links to
// another through itself. None of them is suspect for longer than it takes to ask for a robots.txt.
func TestWay_redirectsToOneHostAreNoPortal(t *testing.T) {
	for name, c := range map[string]struct {
		story func(w *testWay, i int) Suspicion
		most  int // suspect answers
	}{
		"parked names":         {func(w *testWay, i int) Suspicion { return w.away(-i-1, "parking.test") }, 0},
		"within a domain":      {func(w *testWay, i int) Suspicion { return w.away(i, fmt.Sprintf("login.s%d.test", i)) }, 0},
		"others answer":        {func(w *testWay, i int) Suspicion { w.answer(i, i); return w.away(i, "company.test") }, 0},
		"one after a page":     {func(w *testWay, i int) Suspicion { return answersThird(w, i) }, 0},
		"a robots.txt answers": {answersWhenAsked, 1},
	} {
		w := newTestWay()
		suspect := 0
		for i := range 1000 {
			if c.story(w, i) == Suspect {
				suspect++
			}
		}
		if s := w.State(w.now); suspect > c.most || s.IsDown {
			t.Errorf("%s: %d answers were suspect: %+v", name, suspect, s)
		}
	}
}

func answersThird(w *testWay, i int) Suspicion {
	if i%3 == 2 {
		return w.answer(i, i)
	}
	return w.away(i, "company.test")
}

// answersWhenAsked is a site that redirects to another host, and whose robots.txt is asked for after a suspect answer.
func answersWhenAsked(w *testWay, _ int) Suspicion {
	s := w.away(0, "shop.test")
	if s == Suspect {
		w.note(0, Answer{Status: 404, IsRobots: true})
	}
	return s
}

// A site that redirects everything to another host, its robots.txt too, has moved. It is believed after half an hour.
func TestWay_aSiteThatHasMovedIsBelievedAfterHalfAnHour(t *testing.T) {
	w := newTestWay()
	w.answer(0, 100)
	began := w.now
	for w.away(0, "new.test") == Believed && w.now.Sub(began) < time.Minute {
	}
	for w.note(0, Answer{Status: 302, Kind: AwayAnswer, Target: []byte("new.test"), IsRobots: true}) == Suspect {
	}
	if took := w.now.Sub(began); took < beliefAfter || took > beliefAfter+time.Minute {
		t.Errorf("it took %v", took)
	}
	if w.away(0, "new.test") != Believed {
		t.Error("it is suspect again")
	}
}

// A portal that gives its page in place of every page redirects nowhere. When four sites have given one page, and no
// other page came between, a robots.txt is asked for. If it is that page, too, no more of them is used.
func TestWay_onePageOfAllSitesAndForRobotsIsThatOfAPortal(t *testing.T) {
	w := newTestWay()
	for i := range 20 {
		w.answer(i, 500+i)
	}
	asked := 0
	for i := range 10 {
		switch w.answer(i, 77) {
		case AskRobots:
			asked++
		case Suspect:
			t.Error("suspect without a proof")
		case Believed:
		}
	}
	if asked != 1 {
		t.Errorf("%d proofs", asked)
	}
	if w.note(5, Answer{Status: 200, Payload: make([]byte, 77), IsRobots: true}) != Suspect || w.answer(6, 77) != Suspect {
		t.Error("believed after the proof")
	}
	if s := w.State(w.now); !s.IsDown {
		t.Errorf("%+v", s)
	}
}

// A proxy that refuses all requests without saying that it is one: the answers of many sites are equal, and were pages
// before.
func TestWay_equalRefusalsThroughAProxyAreItsOwn(t *testing.T) {
	w := newTestWay()
	for i := range 20 {
		w.answer(i, 500+i)
	}
	believed := 0
	for i := range 20 {
		if w.note(i, Answer{Status: 403, Payload: []byte("over quota"), Kind: DeniedAnswer}) == Believed {
			believed++
		}
	}
	if s := w.State(w.now); believed != 2 || !s.IsDown {
		t.Errorf("%d were believed: %+v", believed, s)
	}
}
