package history

import (
	"slices"
	"testing"
	"time"

	"orbweaver/engine/state/counters"
)

// A distribution has the ranges from the first value to the last one.
func TestDistribution_leavesOutEmptyEnds(t *testing.T) {
	var d counters.Distributions
	for _, gap := range []time.Duration{2 * time.Second, 2 * time.Second, 9 * time.Second} {
		d.Gap.Observe(0, gap)
	}
	d.Sync.Observe(0, time.Hour)
	got := distributionsOf(&d)
	gap, sync, body := got["politeness_gap_seconds"], got["journal_sync_seconds"], got["body_seconds"]
	if !slices.Equal(gap.Ends, []float64{2.9995, 3.9995, 4.9995, 5.9995, 7.9995, 9.9995}) ||
		!slices.Equal(gap.Counts, []int64{2, 0, 0, 0, 0, 1}) ||
		gap.Sum != 13 || gap.From != 1.9995 {
		t.Errorf("%+v", gap)
	}
	if len(sync.Ends) != 0 || sync.From != 524.288 || !slices.Equal(sync.Counts, []int64{1}) {
		t.Errorf("above all ends: %+v", sync)
	}
	if len(body.Counts) != 0 || distributionsOf(nil) != nil {
		t.Errorf("empty: %+v", body)
	}
}
