package simweb

import (
	"testing"
	"time"
)

// A log goes back to a moment: what had ended is there as it was, what was under way was cut short, the rest is unheard of.
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
