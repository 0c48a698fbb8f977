package schedule

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/state/visit"
)

// Front measures the front of a crawl: the IP addresses that are due soon. It knows how large the front should be,
// which grows while the fetch workers find nothing due. Its methods are safe for concurrent use, except isSmall and
// recountIn, which are the Distributor's.
type Front struct {
	workbench *visit.Workbench
	fetchers  int64
	required  atomic.Int64
	classed   atomic.Bool // ready URLs wait in the queues of their classes

	nextCount time.Time // a front of largeSize is not counted again before this time
	largeSize int64     // the front had at least this size at the last count
	uncounted bool      // isSmall answered without a count since the last call of recountIn
}

const (
	frontSoon       = time.Second      // an address that is due within this time belongs to the front
	frontPause      = time.Millisecond // between two counts of a front that is large
	frontMost       = 64               // addresses required, at most, for each fetch worker
	frontLeast      = 2                // the same, at least
	frontGrowPart   = 4                // the front grows by this part of the fetch workers
	frontShrinkPart = 16               // and shrinks by this part of itself
)

// NewFront returns the front of a crawl with so many fetch workers.
func NewFront(w *visit.Workbench, fetchers int) *Front {
	f := &Front{workbench: w, fetchers: int64(fetchers)}
	f.required.Store(frontLeast * f.fetchers)
	return f
}

// Required returns how large the front should be.
func (f *Front) Required() int64 { return f.required.Load() }

// Size counts the front.
func (f *Front) Size() int { return f.workbench.DueTimes().Front(time.Now(), frontSoon) }

// noteNothingDue is called when the fetch workers find nothing due. urlsWait says that URLs in the ready queue could
// make the front larger. Without them, and those of classes, a large front is of no use.
func (f *Front) noteNothingDue(urlsWait bool) {
	want := f.required.Load()
	if urlsWait || f.classed.Load() {
		f.required.CompareAndSwap(want, min(want+f.fetchers/frontGrowPart+1, frontMost*f.fetchers))
	} else if want > frontLeast*f.fetchers {
		f.required.CompareAndSwap(want, want-want/frontShrinkPart)
	}
}

// isSmall reports whether the front is smaller than it should be. A front that was large is not counted again for
// frontPause, so that the count is not a cost of each page.
func (f *Front) isSmall(now time.Time) bool {
	want := f.required.Load()
	if now.Before(f.nextCount) && want <= f.largeSize {
		f.uncounted = true
		return false
	}
	if int64(f.workbench.DueTimes().Front(now, frontSoon)) < want {
		return true
	}
	f.largeSize, f.nextCount = want, now.Add(frontPause)
	return false
}

// recountIn shortens wait, until the front can be counted again, if isSmall has answered without a count.
func (f *Front) recountIn(now time.Time, wait time.Duration) time.Duration {
	if f.uncounted {
		f.uncounted, wait = false, min(wait, max(f.nextCount.Sub(now), 0))
	}
	return wait
}
