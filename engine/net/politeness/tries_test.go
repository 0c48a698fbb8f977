package politeness

import (
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// --tries replaces the tries of all failures that may pass, and of no other outcome.
func TestTries_ofTheOperator(t *testing.T) {
	for _, c := range []struct {
		tries int
		of    outcome.Outcome
		want  int // tries in all
	}{
		{0, outcome.Reset, 3}, {0, outcome.TooMany, 5},
		{1, outcome.Reset, 1}, {1, outcome.TooMany, 1}, {1, outcome.Refused, 1},
		{4, outcome.Reset, 4}, {4, outcome.TooMany, 4}, {4, outcome.Refused, 4},
		{4, outcome.OK, 1}, {4, outcome.ClientError, 1}, {2, outcome.Stale, 20},
	} {
		p := Default()
		p.Tries = c.tries
		tries := 1
		for tries < 20 && p.Decide(Attempt{Outcome: c.of, Try: tries - 1, Started: time.Now(), Ended: time.Now()}).Retry {
			tries++
		}
		if tries != c.want {
			t.Errorf("--tries %d, %v: %d tries, want %d", c.tries, c.of, tries, c.want)
		}
	}
}
