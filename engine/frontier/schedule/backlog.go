package schedule

import (
	"sync/atomic"
	"time"
)

// Backlog limits how many Visits are out while the parse workers are behind. Otherwise every fetch worker holds a page
// that waits: with 16,000 of them that is a gigabyte of buffers.
//
// It is a congestion control (RFC 5681). The limit holds for Visits that are out and pages that wait, together. So it
// counts what is between the workbench and the archive. There are as many exchanges as the latency of servers needs,
// and a few pages more.
//
//   - While more than twice the wanted pages wait, the limit is at most the wanted ones and the Visits that are out.
//   - While fewer wait, and the limit holds Visits back, it grows by one for each Visit that comes back. So it doubles
//     within the time of an exchange.
//   - While no page waits and no Visit comes back, it grows with time: slow servers may have all the Visits.
//
// visitsMost is the Feeder's; the other methods are safe for concurrent use.
type Backlog struct {
	Pages      *atomic.Int64 // fetched and not stored
	Parsers    int           // parse workers
	WakeFeeder func()

	limit     int          // 0 before the first call of visitsMost
	grown     time.Time    // when the limit grew last
	isLimited atomic.Bool  // fewer Visits may be out than the Feeder would like
	heldAt    atomic.Int64 // when a Visit was held back last, in nanoseconds of the Unix time
}

const (
	backlogLeast = 64   // pages that should wait, at least
	backlogEach  = 16   // the same, for each parse worker
	backlogFirst = 1024 // the first limit
	backlogWake  = 16   // one in so many stored pages wakes the Feeder

	backlogPause    = 20 * time.Millisecond // if neither page nor Visit comes, the limit grows so often
	backlogGrowPart = 16                    // and by this part of itself
	backlogRecent   = 200 * time.Millisecond
)

// visitsMost returns how many Visits may be out: most of them if the parse workers keep up. out is how many were out
// after the last batch, and back how many of them have come back.
func (b *Backlog) visitsMost(most, out, back int, now time.Time) int {
	if b.limit == 0 {
		b.limit = backlogFirst
	}
	waiting, wanted := int(b.Pages.Load()), b.wanted()
	isHeld := out+waiting >= b.limit
	switch {
	case waiting > 2*wanted:
		b.limit = min(b.limit, out-back+wanted)
	case !isHeld || waiting >= wanted:
	case back > 0:
		b.limit, b.grown = b.limit+back, now
	case waiting == 0 && now.Sub(b.grown) >= backlogPause:
		b.limit, b.grown = b.limit+b.limit/backlogGrowPart+1, now
	}
	b.isLimited.Store(b.limit < most)
	if b.limit >= most {
		return most
	}
	if isHeld && waiting >= wanted/2 {
		b.heldAt.Store(now.UnixNano())
	}
	return max(b.limit-waiting, 0)
}

// wanted returns how many pages should wait, so that no parse worker does.
func (b *Backlog) wanted() int { return max(backlogLeast, backlogEach*b.Parsers) }

// NoteStored is called when a page is stored, with how many are not.
func (b *Backlog) NoteStored(pages int64) {
	if pages%backlogWake == 0 && pages <= int64(b.wanted()) && b.isLimited.Load() {
		b.WakeFeeder()
	}
}

// IsHolding reports whether the parse workers are behind. A burst that they have stored is past.
func (b *Backlog) IsHolding(now time.Time) bool {
	return b.Pages.Load() > 0 && now.UnixNano()-b.heldAt.Load() < int64(backlogRecent)
}
