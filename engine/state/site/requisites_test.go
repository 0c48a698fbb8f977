package site

import (
	"math"
	"testing"
	"time"
)

// A site may have 200 requisites before its pages, and each page pays for 100. Requisites of style sheets and frames
// have a hundred, and two pages pay for one.
func TestState_requisitesPrecedePagesWithinBounds(t *testing.T) {
	var s State
	for n := 0; MayPrecede(&s, 1, 0); n++ {
		if CountRequisite(&s, 1); n > 200 {
			t.Fatal("more than 200 requisites precede the pages")
		}
	}
	if s.Requisites.Total() != 200 || !MayPrecede(&s, 2, 0) || MayPrecede(&s, 2, 200) {
		t.Errorf("after %d requisites: %+v", s.Requisites.Total(), s)
	}
	CountPage(&s)
	if !MayPrecede(&s, 1, 99) || MayPrecede(&s, 1, 100) {
		t.Errorf("after a page: %d", s.Requisites.ahead())
	}
	for range 150 {
		CountRequisite(&s, 3)
	}
	if MayPrecede(&s, 2, 0) || !MayPrecede(&s, 1, 99) {
		t.Error("requisites of style sheets count like those of pages, or not at all")
	}
	CountPage(&s)
	CountPage(&s)
	if !MayPrecede(&s, 2, 0) || s.Requisites.Total() != 350 {
		t.Errorf("%d requisites after two pages", s.Requisites.Total())
	}
	if CountRequisite(&s, 2); MayPrecede(&s, 2, 0) {
		t.Error("two pages pay for more than one")
	}
}

// The counts stop at what they can hold. The larger ones of two agents count.
func TestState_countsOfRequisitesStopAndMerge(t *testing.T) {
	s := State{Requisites: math.MaxUint32 &^ 255}
	for range 300 {
		CountRequisite(&s, 1)
		CountRequisite(&s, 2)
	}
	if s.Requisites.Total() != 1<<24-1 || s.Requisites.ahead() != aheadMax || s.DeepRequisites != 2*deepMax {
		t.Errorf("%+v", s)
	}
	var known State
	for range 7 {
		CountRequisite(&known, 1)
	}
	own := State{DeepRequisites: 4}
	own.Merge(&known, 0, time.Now())
	if own.Requisites.Total() != 7 || own.Requisites.ahead() != 7 || own.DeepRequisites != 4 {
		t.Errorf("merged: %+v", own)
	}
}
