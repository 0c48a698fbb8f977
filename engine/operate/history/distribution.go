package history

import (
	"orbweaver/engine/state/counters"
	"orbweaver/internal/histogram"
)

// Distribution is how often values lay in each range, in this run. Ranges without values at both ends are left out.
type Distribution struct {
	From   float64   `json:"from"`   // where the first of the ranges begins
	Ends   []float64 `json:"ends"`   // of the ranges, the end included; the last range of all has none
	Counts []int64   `json:"counts"` // of each range
	Sum    float64   `json:"sum"`    // of all values
}

// distributionsOf are the distributions of a crawl by the names of their metrics; nil if it has none.
func distributionsOf(d *counters.Distributions) map[string]Distribution {
	if d == nil {
		return nil
	}
	return map[string]Distribution{
		"politeness_gap_seconds": newDistribution(d.Gap.Load()),
		"connect_seconds":        newDistribution(d.Connect.Load()),
		"first_byte_seconds":     newDistribution(d.FirstByte.Load()),
		"body_seconds":           newDistribution(d.Body.Load()),
		"response_body_bytes":    newDistribution(d.BodySize.Load()),
		"journal_sync_seconds":   newDistribution(d.Sync.Load()),
	}
}

func newDistribution(s histogram.Snapshot) Distribution {
	first, last := len(s.Counts), -1
	for i, n := range s.Counts {
		if n > 0 {
			first, last = min(first, i), i
		}
	}
	if last < 0 {
		return Distribution{Ends: []float64{}, Counts: []int64{}}
	}
	d := Distribution{Ends: s.Ends[first:min(last+1, len(s.Ends))], Counts: s.Counts[first : last+1], Sum: s.Sum}
	if first > 0 {
		d.From = s.Ends[first-1]
	}
	return d
}
