package members_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestADeathIsAgreedOnWithinTenSeconds(t *testing.T) {
	var took []time.Duration
	seeds := uint64(200)
	if !scenarios || raceEnabled {
		seeds = 20
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, seed)
			defer w.close()
			w.populate(8)
			time.Sleep(time.Duration(seed) * 97 * time.Millisecond)
			w.kill(name(3))
			d, ok := w.agreeWithin(30 * time.Second)
			if !ok {
				t.Errorf("seed %d: no agreement after %v: %s", seed, d, w.views())
			}
			took = append(took, d)
		})
	}
	slices.Sort(took)
	t.Logf("median %v, p99 %v, worst %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	if p99 := took[len(took)*99/100]; p99 > 10*time.Second {
		t.Errorf("p99 %v", p99)
	}
}

// A hundred agents agree on each of ten deaths in time. In make test they are thirty, with three deaths.
func TestAHundredAgentsAgree(t *testing.T) {
	agents, deaths := 100, 10
	if !scenarios || raceEnabled {
		agents, deaths = 30, 3
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(agents)
		for n := range deaths {
			w.kill(name(10 + n))
			d, ok := w.agreeWithin(30 * time.Second)
			if t.Logf("agreed after %v", d); !ok || d > 10*time.Second {
				t.Errorf("kill %d: %v", n, d)
			}
		}
	})
}
