package simweb

import (
	"math"
	"testing"
	"time"
)

// What a web thinks about its URLs has the mean that it was told and the spread of an exponential distribution, ends,
// and is the same when a URL is asked for again.
func TestThinkIsExponential(t *testing.T) {
	c := Plain()
	c.Think = 200 * time.Millisecond
	w := testWorld(t, c)
	const n = 50_000
	sum, squares, late := 0.0, 0.0, 0
	for i := range n {
		to := target{host: int32(i % c.Hosts), page: uint32(i / c.Hosts)}
		d := w.think(to)
		if d < 0 || d > thinkMost*c.Think || d != w.think(to) {
			t.Fatalf("%v for %+v, then %v", d, to, w.think(to))
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
	if d := testWorld(t, Plain()).think(target{}); d != 0 {
		t.Errorf("a web that does not think takes %v", d)
	}
}
