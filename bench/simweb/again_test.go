package simweb

import (
	"testing"
	"time"
)

// A log goes back to a moment: what had ended is there as it was, what was under way was cut short, the rest is unheard
// of.
func TestLogGoesBackToAMoment(t *testing.T) {
	w, err := New(Plain())
	if err != nil {
		t.Fatal(err)
	}
	l := w.NewLog()
	begin := time.Unix(1000, 0)
	l.connect(begin)
	note := func(host int32, from, to time.Duration, flags uint8) {
		l.add(&arrival{start: begin.Add(from), end: begin.Add(to), t: target{host: host}, status: 200, flags: flags})
	}
	note(1, 0, time.Second, flagWhole)
	note(2, time.Second, 3*time.Second, flagWhole) // under way
	note(3, 4*time.Second, 5*time.Second, flagWhole)
	at := l.At(1, begin.Add(2*time.Second), 0)
	var got []Arrival
	for a := range at.All() {
		got = append(got, a)
	}
	if len(got) != 2 || !got[0].Whole || got[1].Whole || !got[1].Cut || !got[1].End.Equal(begin.Add(2*time.Second)) {
		t.Errorf("%+v", got)
	}
	if at.Len() != 2 || l.Len() != 3 {
		t.Errorf("%d and %d arrivals", at.Len(), l.Len())
	}
}

func TestWorldAgainRemembersFirstTries(t *testing.T) {
	w, err := New(Plain())
	if err != nil {
		t.Fatal(err)
	}
	l, page := w.NewLog(), target{host: 1, page: 2}
	l.add(&arrival{t: page})
	again := w.Again(l)
	if got := again.firstTry(page, shapeOnceError); got != shapePlain {
		t.Errorf("the second try gave shape %v", got)
	}
	if got := again.firstTry(target{host: 1, page: 3}, shapeOnceError); got != shapeOnceError {
		t.Errorf("the first try gave shape %v", got)
	}
	if again.Root(5) != w.Root(5) {
		t.Error("another world")
	}
}

// Of a log some arrivals are kept, with all that is told of them, strangers' URLs too; the log itself stays whole, and
// the judge sees the rest alone.
func TestOnlySomeOfALog(t *testing.T) {
	w, err := New(Plain())
	if err != nil {
		t.Fatal(err)
	}
	l := w.NewLog()
	begin := time.Unix(1000, 0)
	l.connect(begin)
	for i, agent := range []string{"one", "other", "one"} {
		l.add(&arrival{start: begin.Add(time.Duration(i) * time.Second), end: begin.Add(time.Duration(i) * time.Second), t: target{host: 1}, status: 200, flags: flagWhole, agent: []byte(agent)})
	}
	l.add(&arrival{start: begin, end: begin, t: target{host: -1, kind: kindUnknown}, url: "http://stranger.test/", agent: []byte("other")})
	p := Promise{HostDelay: 1500 * time.Millisecond, Partial: true, Resumed: true}
	if v := w.Judge(l, p, nil); v.HostGapViolations != 2 || v.Repeated != 2 || v.Arrivals != 4 {
		t.Errorf("of all: %+v", v)
	}
	one := l.Only(func(a *Arrival) bool { return a.Agent == "one" })
	if v := w.Judge(one, p, nil); v.HostGapViolations != 0 || v.Repeated != 1 || v.Arrivals != 2 || v.MinHostGap != 2*time.Second {
		t.Errorf("of one: %+v", v)
	}
	other := l.Only(func(a *Arrival) bool { return a.Agent == "other" })
	last := Arrival{}
	for last = range other.All() {
	}
	if other.Len() != 2 || last.URL != "http://stranger.test/" || l.Len() != 4 {
		t.Errorf("%d and %d arrivals, the last %+v", other.Len(), l.Len(), last)
	}
}
