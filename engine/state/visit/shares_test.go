package visit

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// visitsOf are Visits of one class: new ones, or prompt ones whose sites have stored a page.
func visitsOf(n, first int, stored int32) (visits []Visit) {
	for i := range n {
		v := Visit{
			Addr: netip.AddrFrom4([4]byte{240, 0, byte(first), byte(i)}), Key: fmt.Appendf(nil, "http://h%d.test", 100*first+i),
		}
		v.Site.Stored = stored
		visits = append(visits, v)
	}
	return visits
}

// ownDomain makes each host a domain of its own.
func ownDomain(host []byte) []byte { return host }

// Of 16 workers slow Visits hold 12 at most, and with new ones 14. Others hold what is free. When the slow ones are
// back, or their time is over, their share is free again.
func TestShares_eachClassLeavesRoomForTheBetterOnes(t *testing.T) {
	const workers = 16
	now := time.Unix(1e9, 0)
	s := NewShares(ownDomain)
	slow := visitsOf(20, 1, 1)
	for i := range slow {
		s.NoteExchange(&slow[i], now.Add(-2*time.Minute), now)
	}
	if n := s.Divide(slow, workers, now); n != 12 {
		t.Errorf("%d slow Visits are out, want 12", n)
	}
	if n := s.Divide(visitsOf(20, 2, 0), workers, now); n != 2 {
		t.Errorf("%d new Visits are out, want 2", n)
	}
	if n := s.Divide(visitsOf(20, 3, 1), workers, now); n != 20 {
		t.Errorf("%d prompt Visits are out, want all 20", n)
	}
	if n := s.PromptRoom(workers); n > 0 {
		t.Errorf("there is room for %d more, though prompt sites have more than their share", n)
	}
	s.GiveBack(slow[0].Class)
	if n := s.Divide(slow[12:], workers, now); n != 1 {
		t.Errorf("%d slow Visits after one is back", n)
	}
	if n := s.Divide(slow[13:], workers, now.Add(128*time.Minute)); n != 7 {
		t.Errorf("%d of 7 Visits are prompt again after 64 times as long", n)
	}
}

// An address that is slow again each time when it counts as prompt is slow for longer each time, up to a day.
func TestShares_anAddressThatIsSlowAgainIsSlowForLonger(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := NewShares(ownDomain)
	v := visitsOf(1, 1, 1)
	for _, hours := range []int{1, 2, 4, 8, 16, 24, 24} {
		now = now.Add(6 * time.Second)
		s.NoteExchange(&v[0], now.Add(-6*time.Second), now)
		long := time.Duration(hours) * time.Hour
		if s.classOf(&v[0], now.Add(long-1)) != slowClass || s.classOf(&v[0], now.Add(long)) != promptClass {
			t.Errorf("it is not slow for %v: %v", long, s.addrs[v[0].Addr].long)
		}
		now = now.Add(long)
	}
	now = now.Add(2 * slowMost)
	if s.NoteExchange(&v[0], now.Add(-6*time.Second), now); s.classOf(&v[0], now.Add(time.Hour)) != promptClass {
		t.Error("it is slow for longer than an hour, though it was prompt for a day")
	}
}

// A new site whose domain has a slow host is slow. A site that has served a page is not.
func TestShares_newSitesOfASlowDomainAreSlow(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := NewShares(func([]byte) []byte { return []byte("shared.test") })
	v := visitsOf(3, 1, 0)
	s.NoteExchange(&v[0], now.Add(-time.Minute), now)
	v[2].Site.Stored = 1
	s.Divide(v, 16, now)
	for i, want := range []uint8{slowClass, slowClass, promptClass} {
		if v[i].Class != want {
			t.Errorf("class %d of Visit %d, want %d", v[i].Class, i, want)
		}
	}
}

// Sites that must wait are called in order as soon as there are workers for their class, each once. A site that is due
// by itself is not called.
func TestShares_heldSitesAreCalledWhenWorkersAreFree(t *testing.T) {
	const workers = 16
	now := time.Unix(1e9, 0)
	s := NewShares(ownDomain)
	v := visitsOf(40, 1, 0)
	for i := s.Divide(v, workers, now); i < len(v); i++ {
		if due := s.Hold(&v[i], now); due != now.Add(heldMost) {
			t.Fatalf("due in %v", due.Sub(now))
		}
		now = now.Add(time.Millisecond)
	}
	if _, ok := s.NextHeld(workers, 0, now); ok || s.NewWaiting() != 26 {
		t.Fatalf("a site was called though no worker is free: %d wait", s.NewWaiting())
	}
	for i := range 2 {
		s.GiveBack(v[i].Class)
	}
	for i := range 2 {
		h, ok := s.NextHeld(workers, i, now)
		if want := string(v[14+i].Key); !ok || string(h.Key) != want || !h.Until.Equal(h.Due.Add(heldMost)) {
			t.Errorf("got %q, want %q", h.Key, want)
		}
	}
	if h, ok := s.NextHeld(workers, 2, now); ok {
		t.Errorf("%q was called for a worker that is taken", h.Key)
	}
	now = time.Unix(1e9, 0).Add(heldMost + 10*time.Millisecond)
	if h, ok := s.NextHeld(workers, 0, now); !ok || string(h.Key) != string(v[25].Key) {
		t.Errorf("got %q after others were due by themselves, want %q", h.Key, v[25].Key)
	}
}

// Of new sites that wait, those that have answered come first, and one in four is of the others. So pages come from the
// start, and sites without a page do not keep others away.
func TestShares_newSitesThatHaveAnsweredComeFirst(t *testing.T) {
	const workers = 16
	now := time.Unix(1e9, 0)
	s := NewShares(ownDomain)
	v := visitsOf(100, 1, 0)
	for i := range v {
		v[i].Class, v[i].Site.HasAnswered = newClass, i >= 50
		s.Hold(&v[i], now)
	}
	answered := 0
	for i := range 60 {
		h, ok := s.NextHeld(workers, 0, now)
		if !ok {
			t.Fatal("no site waits")
		}
		if i == 0 && string(h.Key) != string(v[50].Key) {
			t.Errorf("%q is the first", h.Key)
		}
		if slices.ContainsFunc(v[50:], func(one Visit) bool { return string(one.Key) == string(h.Key) }) {
			answered++
		}
	}
	if answered != 45 || s.NewWaiting() != 40 {
		t.Errorf("%d of 60 had answered, and %d wait", answered, s.NewWaiting())
	}
	for range 40 {
		s.NextHeld(workers, 0, now)
	}
	if _, ok := s.NextHeld(workers, 0, now); ok || s.NewWaiting() != 0 {
		t.Errorf("%d wait", s.NewWaiting())
	}
}

// However many sites wait, the memory of that is bounded.
func TestHostile_X07_heldSitesAreBounded(t *testing.T) {
	var q heldSites
	now := time.Unix(1e9, 0)
	for range 2 * heldPlaces {
		q.add(HeldSite{Due: now, Until: now.Add(heldMost)}, now)
		now = now.Add(time.Microsecond)
	}
	if n := q.len(); n != heldPlaces {
		t.Errorf("%d sites are noted", n)
	}
	for range 10 * heldPlaces {
		q.add(HeldSite{Due: now, Until: now.Add(heldMost)}, now)
		now = now.Add(time.Millisecond)
		if _, ok := q.next(now); !ok {
			t.Fatal("no site waits")
		}
	}
	if n := cap(q.sites); n > 3*heldPlaces {
		t.Errorf("room for %d sites", n)
	}
}

// One worker, or two, can still ask all sites.
func TestShares_fewWorkersServeAll(t *testing.T) {
	now := time.Unix(1e9, 0)
	for workers := 1; workers < 6; workers++ {
		for stored := range int32(2) {
			s := NewShares(ownDomain)
			v := visitsOf(1, 1, stored)
			s.NoteExchange(&v[0], now.Add(-time.Minute), now)
			for round := range 3 {
				if s.Divide(v, workers, now) != 1 {
					t.Errorf("%d workers, round %d: the only Visit must wait", workers, round)
				}
				s.GiveBack(v[0].Class)
			}
		}
	}
}

// However many addresses are slow, the memory of that is bounded, and the last one is known.
func TestHostile_X07_slowAddressesAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := NewShares(ownDomain)
	for i := range uint32(3 * slowPlaces) {
		addr := netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1})
		v := Visit{Addr: addr, Key: fmt.Appendf(nil, "http://h%d", i)}
		s.NoteExchange(&v, now.Add(-time.Minute), now)
		if s.classOf(&v, now) != slowClass {
			t.Fatalf("address %d is not known", i)
		}
	}
	if len(s.addrs) > slowPlaces || len(s.domains) > slowPlaces {
		t.Errorf("%d addresses and %d domains, want at most %d", len(s.addrs), len(s.domains), slowPlaces)
	}
}
