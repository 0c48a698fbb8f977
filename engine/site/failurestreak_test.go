package site

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// An answered page of a healthy site must not allocate, however many addresses the site has.
func TestAnAnsweredPageAllocatesNothing(t *testing.T) {
	var s State
	s.SetAddrs(
		[]netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")},
		netip.MustParseAddr("198.18.0.1"),
		time.Time{},
	)
	if n := testing.AllocsPerRun(100, s.NotePageAnswer); n != 0 {
		t.Errorf("%v allocations for each page", n)
	}
	s.NoteFailure(outcome.Reset, time.Unix(1e9, 0), time.Time{})
	s.NotePageAnswer()
	if s.FailureStreak() != (FailureStreak{}) || s.Addrs().Count() != 2 {
		t.Errorf("failure streak %+v and %d addresses after an answer", s.FailureStreak(), s.Addrs().Count())
	}
}
