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
	if testing.Short() || raceEnabled {
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

func TestAHundredAgentsAgree(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("half a minute of CPU")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(100)
		for n := range 10 {
			w.kill(name(10 + n))
			d, ok := w.agreeWithin(30 * time.Second)
			if t.Logf("agreed after %v", d); !ok || d > 10*time.Second {
				t.Errorf("kill %d: %v", n, d)
			}
		}
	})
}
