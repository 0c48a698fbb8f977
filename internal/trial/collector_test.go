package trial

import (
	"math"
	"runtime"
	"testing"
	"time"
)

func TestCollectorMeasuresAllocations(t *testing.T) {
	c := NewCollector()
	const objects, size = 2000, 64 << 10
	keep := make([][]byte, 0, objects)
	for range objects {
		keep = append(keep, make([]byte, size))
	}
	runtime.GC()
	g := c.Read()
	if g.Objects < objects || g.Bytes < objects*size || g.Live < objects*size {
		t.Errorf("%d objects of %d bytes: %+v", objects, size, g)
	}
	// beside other work a share may be more than all
	if g.Pauses == 0 || g.PauseP99 <= 0 || g.PauseMost < g.PauseP99 || g.Share <= 0 {
		t.Errorf("a collection: %+v", g)
	}
	runtime.KeepAlive(keep)
}

func TestQuantile(t *testing.T) {
	bounds, counts := []float64{math.Inf(-1), 0.001, 0.002, 0.004, math.Inf(1)}, []uint64{90, 9, 1, 0}
	for q, want := range map[float64]time.Duration{0.5: time.Millisecond, 0.9: time.Millisecond,
		0.99: 2 * time.Millisecond, 1: 4 * time.Millisecond} {
		if got := quantile(bounds, counts, 100, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if got := quantile(bounds, []uint64{0, 0, 0, 2}, 2, 1); got != 4*time.Millisecond {
		t.Errorf("beyond the last bound: %v", got)
	}
	if got := quantile(bounds, make([]uint64, 4), 0, 0.99); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
