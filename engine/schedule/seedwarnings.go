package schedule

import (
	"sync/atomic"

	"orbweaver/engine/ending"
	"orbweaver/internal/outcome"
)

// seedWarnings warns of the first seed of each outcome that its operator can do something about. The summary at the end
// comes late. Safe for concurrent use.
type seedWarnings struct {
	warned [outcome.Count]atomic.Bool
}

// note takes a seed that gets its outcome without an answer.
func (w *seedWarnings) note(warn func(msg string, args ...any), url []byte, o outcome.Outcome) {
	switch o {
	case outcome.BlockedAddress, outcome.BlockedPort, outcome.NameNotFound:
		if !w.warned[o].Swap(true) {
			warn("a seed is not fetched; crawl.log and 'orbweaver report DIR seeds' name all of them",
				"seed", string(url), "outcome", o.String(), "remedy", ending.Remedy(o))
		}
	default:
	}
}
