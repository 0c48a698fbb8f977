package origin

import (
	"math"
	"testing"
	"time"

	"orbweaver/internal/simweb"
)

// What a web thinks about its URLs has the mean that it was told and the spread of an exponential distribution, ends,
// and is the same when a URL is asked for again.
func TestThinkIsExponential(t *testing.T) {
	c := simweb.Plain()
	c.Think = 200 * time.Millisecond
	w := testWorld(t, c)
	const n = 50_000
	sum, squares, late := 0.0, 0.0, 0
	for i := range n {
		to := simweb.Target{Host: int32(i % c.Hosts), Page: uint32(i / c.Hosts)}
		h := w.HostAt(i % c.Hosts)
		d := h.Think(to)
		if d < 0 || d > simweb.ThinkMost*c.Think || d != h.Think(to) {
			t.Fatalf("%v for %+v, then %v", d, to, h.Think(to))
		}
		if d > 2*c.Think {
			late++
		}
		sum += d.Seconds()
		squares += d.Seconds() * d.Seconds()
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-0.2) > 0.005 || math.Abs(deviation-0.2) > 0.006 || math.Abs(float64(late)/n-math.Exp(-2)) > 0.01 {
		t.Errorf("mean %.4f, deviation %.4f, %d of %d longer than two means", mean, deviation, late, n)
	}
	h := testWorld(t, simweb.Plain()).HostAt(0)
	if d := h.Think(simweb.Target{}); d != 0 {
		t.Errorf("a web that does not think takes %v", d)
	}
}
