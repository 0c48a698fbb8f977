package addrgroup

import (
	"net/netip"
	"testing"
	"time"
)

// Two groups with hosts at one address take turns, and the second one waits for the delay of the first. Addresses that
// are due again are forgotten.
func TestGroupsTakeTurnsAtAnAddress(t *testing.T) {
	w, now := newWorld(t, "group farm: a.test", "group yard: b.test"), time.Now()
	addr := netip.MustParseAddr("198.51.100.1")
	if ok, _ := w.BeginExchange(addr, now); !ok {
		t.Fatal("a free address is in use")
	}
	if ok, retryAt := w.BeginExchange(addr, now); ok || !retryAt.After(now) {
		t.Errorf("during an exchange: %v, again at %v", ok, retryAt)
	}
	due := now.Add(time.Minute)
	w.EndExchange(addr, due, now)
	if ok, retryAt := w.BeginExchange(addr, now); ok || !retryAt.Equal(due) {
		t.Errorf("before the delay: %v, again at %v, want %v", ok, retryAt, due)
	}
	if ok, _ := w.BeginExchange(addr, due); !ok {
		t.Error("after the delay the address is in use")
	}
	w.EndExchange(addr, time.Time{}, now) // there was no request
	for n := range 10_000 {
		one := netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)})
		at := due.Add(time.Duration(n) * time.Second)
		if ok, _ := w.BeginExchange(one, at); !ok {
			t.Fatalf("address %d is in use", n)
		}
		w.EndExchange(one, at.Add(time.Minute), at)
	}
	if n := len(w.shared.due); n > 300 {
		t.Errorf("%d addresses are kept, and 60 wait", n)
	}
}
