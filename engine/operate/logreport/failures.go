package logreport

import (
	"context"
	"fmt"
	"slices"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// Failure is an attempt that brought no usable answer.
type Failure struct {
	Time    string `json:"time"`
	URL     string `json:"url"`
	Outcome string `json:"outcome"`
	Status  int    `json:"status"`         // as in crawl.log: 0 or less without a response
	Page    string `json:"page,omitempty"` // that links to the URL, if the log has it
	Final   bool   `json:"final"`          // it is not tried again
}

// FailureList are the last failures of a crawl, the newest first.
type FailureList struct {
	Failures []Failure `json:"failures"`
}

// Of the log, the last failuresFrom bytes are read: some thousand lines. At most FailuresListed failures are listed.
const (
	failuresFrom   = 1 << 20
	FailuresListed = 200
)

// ListFailures reads the end of the log of the crawl in dir for attempts that failed: by the fault of a server, of the
// way to it, or by a status of 4xx or 5xx. What the crawl itself refuses is none.
func ListFailures(ctx context.Context, fsys vfs.FS, dir string, limit int) (list FailureList, err error) {
	list.Failures = []Failure{}
	if limit < 1 || limit > FailuresListed {
		return list, fmt.Errorf("logreport: limit: %d is not between 1 and %d", limit, FailuresListed)
	}
	outcomes := outcomesByName()
	err = crawllog.Last(ctx, fsys, dir+"/"+layout.LogsDir, failuresFrom, func(l *crawllog.Line) error {
		if !isFailure(outcomes[string(l.Outcome)]) || l.IsRequeued() {
			return nil
		}
		list.Failures = append(list.Failures, Failure{
			Time: string(l.Time), URL: string(l.URL), Outcome: string(l.Outcome), Status: l.Status,
			Page: string(l.Via), Final: l.IsFinal(),
		})
		if n := len(list.Failures); n >= 2*FailuresListed {
			list.Failures = slices.Delete(list.Failures, 0, n-limit)
		}
		return nil
	})
	slices.Reverse(list.Failures)
	list.Failures = list.Failures[:min(limit, len(list.Failures))]
	return list, err
}

// isFailure reports whether a request with an outcome failed.
func isFailure(o outcome.Outcome) bool {
	switch o {
	case outcome.ClientError, outcome.OtherStatus, outcome.TruncatedLength:
		return true
	default:
		c := o.Class()
		return c == outcome.ClassFault || c == outcome.ClassHost || c == outcome.ClassBusy
	}
}
