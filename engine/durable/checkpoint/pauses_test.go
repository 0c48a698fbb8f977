package checkpoint

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The age is that of the last state that is durable. A clock that is set back makes none negative.
func TestPausesAge(t *testing.T) {
	var p Pauses
	now := time.Now()
	if p.Age(now) != 0 {
		t.Error("no checkpoint yet")
	}
	p.noteDurable(now.Add(-3 * time.Second))
	if got := p.Age(now); got != 3*time.Second || p.Age(now.Add(-time.Hour)) != 0 {
		t.Error(got)
	}
}

// The bound is never below the true quantile, and at most an eighth above it.
func TestPausesQuantile(t *testing.T) {
	var p Pauses
	if p.Quantile(0.99) != 0 {
		t.Error("no pause yet")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var all []time.Duration
	for range 5000 {
		d := time.Duration(rng.Uint64N(1 << (4 + rng.Uint64N(34))))
		all = append(all, d)
		p.add(d)
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		exact := all[max(int(q*5000)-1, 0)]
		if got := p.Quantile(q); got < exact || got > exact+exact/8+8 {
			t.Errorf("%v: %v, exactly %v", q, got, exact)
		}
	}
	if n, longest := p.Total(); n != 5000 || longest != all[4999] {
		t.Error(n, longest)
	}
}
