package visit

import (
	"fmt"
	"net/netip"
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

// Turns of Visits that wait come about twice as often as workers are free for them: in milliseconds if exchanges are
// short, and few in a second if each takes long. No turn is later than in a minute.
func TestPace_turnsFollowTheWorkers(t *testing.T) {
	for interval, most := range map[time.Duration]int{
		time.Millisecond: 2100, 100 * time.Millisecond: 60, 10 * time.Second: 60, time.Hour: 60,
	} {
		now := time.Unix(1e9, 0)
		var p pace
		const waiting = 200
		due := make([]time.Time, waiting) // of each Visit that waits; all are refused again and again
		turns := 0
		for began := now; now.Sub(began) < 10*time.Minute; {
			first := 0
			for i := range due {
				if due[i].Before(due[first]) {
					first = i
				}
			}
			now = latest(now, due[first])
			if due[first] = p.nextTurn(now, int64(now.Sub(began)/interval)); due[first].Sub(now) > paceMost {
				t.Fatalf("interval %v: a turn in %v", interval, due[first].Sub(now))
			}
			if turns++; turns > 20_000 {
				break
			}
		}
		rate := float64(turns) / now.Sub(time.Unix(1e9, 0)).Seconds()
		if rate > float64(most) || rate < 1/interval.Seconds() {
			t.Errorf("interval %v: %.1f turns a second", interval, rate)
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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
