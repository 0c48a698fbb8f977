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
	s.SetAddrs([]netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")},
		netip.MustParseAddr("198.18.0.1"), time.Time{})
	if n := testing.AllocsPerRun(100, s.NotePageAnswer); n != 0 {
		t.Errorf("%v allocations for each page", n)
	}
	s.NoteFailure(outcome.Reset, time.Unix(1e9, 0), time.Time{})
	s.NotePageAnswer()
	if s.FailureStreak() != (FailureStreak{}) || s.Addrs().Count() != 2 {
		t.Errorf("failure streak %+v and %d addresses after an answer", s.FailureStreak(), s.Addrs().Count())
	}
}

// Failures of the way to the server, also of the proxy, make the waits long. The first failure of the server itself
// shows that it can be reached again: the waits begin at the shortest.
func TestFailureStreak_beginsAgainWhenTheServerIsReached(t *testing.T) {
	for _, way := range []outcome.Outcome{outcome.Refused, outcome.ProxyFault} {
		var streak FailureStreak
		now := time.Unix(1e9, 0)
		for range 9 {
			now = now.Add(time.Minute)
			streak = streak.WithFailure(way, now, time.Time{})
		}
		if streak.Count != 9 {
			t.Errorf("%v: a count of %d", way, streak.Count)
		}
		if streak = streak.WithFailure(outcome.Unavailable, now, time.Time{}); streak.Count != 1 {
			t.Errorf("%v, then a response: a count of %d", way, streak.Count)
		}
	}
}
