package site

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// When a name is found, failures of the name end, and failures of the server remain.
func TestAFoundNameEndsOnlyFailuresOfTheName(t *testing.T) {
	now := time.Unix(1e9, 0)
	down := FailureStreak{}.WithNameServersDown()
	if down.NameFailures != 1 || down.Count != 0 || down.FailingFor(now.Add(time.Hour)) != 0 {
		t.Errorf("%+v", down)
	}
	if got := down.WithNameFound(); got != (FailureStreak{}) {
		t.Errorf("%+v", got)
	}
	failed := FailureStreak{}.WithFailure(outcome.ServerError, now, now.Add(time.Minute))
	found := failed.WithNameFailure(outcome.NameNotFound, now).WithNameFound()
	if found.NameFailures != 0 || found.Count != 2 {
		t.Errorf("%+v", found)
	}
	if !failed.NamedRetryWithin(time.Minute) || failed.NamedRetryWithin(time.Minute-1) {
		t.Errorf("%+v", failed)
	}
	if failed.FailingFor(now.Add(time.Hour)) != time.Hour {
		t.Error(failed.FailingFor(now.Add(time.Hour)))
	}
}

// To store the same failures again allocates nothing, also for a site with several addresses.
func TestTheSameFailuresAreNotStoredAgain(t *testing.T) {
	var s State
	key := netip.AddrFrom4([4]byte{192, 0, 2, 1})
	s.SetAddrs([]netip.Addr{key, netip.AddrFrom4([4]byte{192, 0, 2, 2})}, key, time.Time{})
	if n := testing.AllocsPerRun(10, s.NotePageAnswer); n != 0 || s.Addrs().Count() != 2 {
		t.Errorf("%v allocations, %d addresses", n, s.Addrs().Count())
	}
}

// The third equal cut is constant, and so is each later one, however many come. A cut elsewhere is another one.
func TestState_equalCutsStayConstant(t *testing.T) {
	var s State
	for n := 1; n <= 600; n++ {
		if got := s.NoteCut(0x80001200); got != (n >= 3) || s.CutsBodies != got {
			t.Fatalf("cut %d: constant %v, the site cuts bodies: %v", n, got, s.CutsBodies)
		}
	}
	if s.NoteCut(0x80001300) {
		t.Error("a first cut elsewhere is constant")
	}
}
