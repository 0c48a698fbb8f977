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
	workbench  *visit.Workbench
	fetchers   int64
	required   atomic.Int64
	ordered    atomic.Uint64 // ready URLs in the queues of an order: if any, the front is as small as can be
	nothingDue atomic.Bool   // if so: the fetch workers have found nothing due since nextAdjust was set
	waiting    func() int    // sites that are due, but must wait for a worker or for their address

	nextAdjust time.Time // of required, if ordered

	nextCount time.Time // a front of largeSize is not counted again before this time
	largeSize int64     // the front had at least this size at the last count
	uncounted bool      // isSmall answered without a count since the last call of recountIn
}

const (
	frontSoon       = time.Second      // an address that is due within this time belongs to the front
	orderedSoon     = time.Second / 10 // the same, if an order decides what comes next: what is on its way is decided
	frontPause      = time.Millisecond // between two counts of a front that is large
	frontMost       = 64               // addresses required, at most, for each fetch worker
	frontLeast      = 2                // the same, at least
	frontGrowPart   = 4                // the front grows by this part of the fetch workers
	frontShrinkPart = 16               // and shrinks by this part of itself
	frontAdjust     = time.Second      // it grows or shrinks so often, if ordered
)

// NewFront returns the front of a crawl with so many fetch workers.
//
// waiting returns how many sites are due, or will be, and wait for a worker or for their address.
func NewFront(w *visit.Workbench, fetchers int, waiting func() int) *Front {
	f := &Front{workbench: w, fetchers: int64(fetchers), waiting: waiting}
	f.required.Store(frontLeast * f.fetchers)
	return f
}

// Required returns how large the front should be.
func (f *Front) Required() int64 { return f.required.Load() }

// Size counts the front.
func (f *Front) Size() int { return f.workbench.DueTimes().Front(time.Now(), frontSoon) }

// noteNothingDue is called when the fetch workers find nothing due. urlsWait says that URLs in the ready queue could
// make the front larger. Without them a large front is of no use.
func (f *Front) noteNothingDue(urlsWait bool) {
	want := f.required.Load()
	if f.ordered.Load() > 0 {
		f.nothingDue.Store(true)
	} else if urlsWait {
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

// room returns how many URLs the front wants, if an order decides which. The best URL of now is not the best of later.
// So the front has few addresses, and counts sites that wait for a worker: more of them would wait, too. It grows by
// one address for eight fetch workers in each second in which they have found nothing due, and shrinks in others.
func (f *Front) room(now time.Time) int64 {
	want := f.required.Load()
	if !now.Before(f.nextAdjust) {
		f.nextAdjust = now.Add(frontAdjust)
		if f.nothingDue.Swap(false) {
			want = min(want+f.fetchers/8+1, frontMost*f.fetchers)
		} else {
			want = max(want-want/frontShrinkPart, frontLeast*f.fetchers)
		}
		f.required.Store(want)
	}
	if now.Before(f.nextCount) && want <= f.largeSize {
		f.uncounted = true
		return 0
	}
	room := want - int64(f.workbench.DueTimes().Front(now, orderedSoon)+f.waiting())
	if room <= 0 {
		f.largeSize, f.nextCount = want, now.Add(frontPause)
	}
	return max(room, 0)
}
