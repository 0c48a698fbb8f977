package members_test

import (
	"flag"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/members"
)

// places are the addresses of agents from to under.
func places(from, under int) (all []netip.AddrPort) {
	for n := from; n < under; n++ {
		all = append(all, place(n))
	}
	return all
}

// sides checks that two sides see themselves and not each other.
func (w *town) sides(t *testing.T, split, all int) {
	t.Helper()
	for n := range all {
		want := split
		if n >= split {
			want = all - split
		}
		if v := w.agents[name(n)].View(); len(v.Agents) != want {
			t.Errorf("%s sees %v", name(n), ids(v))
		}
	}
}

func TestG01_partitionsHeal(t *testing.T) {
	for _, c := range []struct {
		name  string
		split int
		last  time.Duration
		fault func(w *town)
		check func(t *testing.T, w *town)
	}{
		{"full, even", 4, 5 * time.Minute, func(w *town) { w.net.Split(places(0, 4), places(4, 8)) }, func(t *testing.T, w *town) { w.sides(t, 4, 8) }},
		{"full, one against seven", 1, 5 * time.Minute, func(w *town) { w.net.Split(places(0, 1), places(1, 8)) }, func(t *testing.T, w *town) { w.sides(t, 1, 8) }},
		{"short", 4, 5 * time.Second, func(w *town) { w.net.Split(places(0, 4), places(4, 8)) }, nil},
		{"the first is not heard", 1, 5 * time.Minute, func(w *town) { w.net.Cut(places(0, 1), places(1, 8)) }, nil},
		{"the first does not hear", 1, 5 * time.Minute, func(w *town) { w.net.Cut(places(1, 8), places(0, 1)) }, nil},
		{"one way between halves", 4, 5 * time.Minute, func(w *town) { w.net.Cut(places(0, 4), places(4, 8)) }, nil},
		{"between two alone", 4, 5 * time.Minute, func(w *town) { w.net.Split(places(2, 3), places(3, 4)) }, func(t *testing.T, w *town) {
			if !w.agree() {
				t.Errorf("the others know that both live: %s", w.views())
			}
		}},
		{"flapping", 4, 0, func(w *town) {
			for range 40 {
				w.net.Split(places(0, 4), places(4, 8))
				time.Sleep(9 * time.Second)
				w.net.Heal()
				time.Sleep(4 * time.Second)
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, 1)
				defer w.close()
				w.populate(8)
				c.fault(w)
				time.Sleep(c.last)
				if c.check != nil {
					c.check(t, w)
				}
				w.net.Heal()
				took, ok := w.agreeWithin(time.Minute)
				if !ok {
					t.Fatalf("no agreement %v after it healed: %s", took, w.views())
				}
				t.Logf("agreed after %v", took)
				time.Sleep(5 * time.Minute)
				if !w.agree() {
					t.Errorf("five minutes later: %s", w.views())
				}
			})
		})
	}
}

func TestG01_aSideWithoutLivingSeedsIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(5) // all know the address of the first alone
		w.kill(name(0))
		w.agreeWithin(20 * time.Second)
		w.net.Split(places(1, 3), places(3, 5))
		time.Sleep(10 * time.Minute)
		w.net.Heal()
		if took, ok := w.agreeWithin(time.Minute); !ok {
			t.Errorf("no agreement %v after it healed: %s", took, w.views())
		}
	})
}

// stalled is how long agents are stalled in turn: an hour is what they are to bear (-stalled 1h), of which every run has a part.
var stalled = flag.Duration("stalled", 10*time.Minute, "how long agents are stalled in turn")

func TestAStallIsNoDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(8)
		serials := map[string]uint64{}
		for id, r := range w.agents {
			serials[id] = r.View().Serial
		}
		// Each is stalled for 2 s out of 10, at its own time.
		for i := range int(*stalled/time.Second) * 8 / 10 {
			w.agents[name(i%8)].line.Freeze(2 * time.Second)
			time.Sleep(1250 * time.Millisecond)
		}
		for id, r := range w.agents {
			if v := r.View(); v.Serial != serials[id] {
				t.Errorf("%s saw a death: serial %d, was %d, absent %v", id, v.Serial, serials[id], v.Gone)
			}
			if s := r.Stats(); s != (members.Stats{}) {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
}
