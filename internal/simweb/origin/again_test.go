package origin

import (
	"testing"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
)

// A log goes back to a moment: what had ended is there as it was, what was under way was cut short, the rest is not
// there.
func TestLogGoesBackToAMoment(t *testing.T) {
	w, err := New(simweb.Plain())
	if err != nil {
		t.Fatal(err)
	}
	l := w.NewLog()
	begin := time.Unix(1000, 0)
	l.Connect(begin)
	note := func(host int32, from, to time.Duration, flags uint8) {
		l.Add(
			&arrivals.Entry{
				Start:  begin.Add(from),
				End:    begin.Add(to),
				Target: simweb.Target{Host: host},
				Status: 200,
				Flags:  flags,
			},
		)
	}
	note(1, 0, time.Second, arrivals.FlagWhole)
	note(2, time.Second, 3*time.Second, arrivals.FlagWhole) // under way
	note(3, 4*time.Second, 5*time.Second, arrivals.FlagWhole)
	at := l.At(1, begin.Add(2*time.Second), 0)
	var got []arrivals.Arrival
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
	w, err := New(simweb.Plain())
	if err != nil {
		t.Fatal(err)
	}
	l, page := w.NewLog(), simweb.Target{Host: 1, Page: 2}
	l.Add(&arrivals.Entry{Target: page})
	again := w.Again(l)
	if got := again.firstTry(page, simweb.ShapeOnceError); got != simweb.ShapePlain {
		t.Errorf("the second try gave shape %v", got)
	}
	if got := again.firstTry(simweb.Target{Host: 1, Page: 3}, simweb.ShapeOnceError); got != simweb.ShapeOnceError {
		t.Errorf("the first try gave shape %v", got)
	}
	if again.Root(5) != w.Root(5) {
		t.Error("another world")
	}
}

// Some arrivals of a log are kept with all their facts, URLs outside of the world too. The log itself stays whole, and
// the judge sees the rest alone.
func TestOnlySomeOfALog(t *testing.T) {
	w, err := New(simweb.Plain())
	if err != nil {
		t.Fatal(err)
	}
	l := w.NewLog()
	begin := time.Unix(1000, 0)
	l.Connect(begin)
	for i, agent := range []string{"one", "other", "one"} {
		l.Add(
			&arrivals.Entry{
				Start:  begin.Add(time.Duration(i) * time.Second),
				End:    begin.Add(time.Duration(i) * time.Second),
				Target: simweb.Target{Host: 1},
				Status: 200,
				Flags:  arrivals.FlagWhole,
				Agent:  []byte(agent),
			},
		)
	}
	l.Add(
		&arrivals.Entry{
			Start:  begin,
			End:    begin,
			Target: simweb.Target{Host: -1, Kind: simweb.KindUnknown},
			URL:    "http://stranger.test/",
			Agent:  []byte("other"),
		},
	)
	p := judge.Promise{HostDelay: 1500 * time.Millisecond, Partial: true, Resumed: true}
	if v := w.Judge(l, p, nil); v.HostGapViolations != 2 || v.Repeated != 2 || v.Arrivals != 4 {
		t.Errorf("of all: %+v", v)
	}
	one := l.Only(func(a *arrivals.Arrival) bool { return a.Agent == "one" })
	if v := w.Judge(one, p, nil); v.HostGapViolations != 0 || v.Repeated != 1 || v.Arrivals != 2 ||
		v.MinHostGap != 2*time.Second {
		t.Errorf("of one: %+v", v)
	}
	other := l.Only(func(a *arrivals.Arrival) bool { return a.Agent == "other" })
	last := arrivals.Arrival{}
	for last = range other.All() {
	}
	if other.Len() != 2 || last.URL != "http://stranger.test/" || l.Len() != 4 {
		t.Errorf("%d and %d arrivals, the last %+v", other.Len(), l.Len(), last)
	}
}
