package bandwidth

import (
	"sync"
	"sync/atomic"
	"time"
)

// A bucket holds bytes that may be received. It fills with its rate. Callers take bytes after they have received them,
// and wait until these are covered: first taken, first covered.
type bucket struct {
	rate   atomic.Int64 // bytes per second; 0 for no limit
	credit atomic.Int64 // bytes that can be taken at once; negative: bytes that are taken and not covered

	mu     sync.Mutex // held for a few instructions while credit grows
	filled time.Time  // credit has grown until this time
}

// burst is how long credit grows while nothing is taken.
const burst = 100 * time.Millisecond

// set sets the rate and forgets what was taken.
func (b *bucket) set(rate int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rate.Store(rate)
	b.credit.Store(0)
	b.filled = now
}

// take takes n bytes and returns when they are covered; zero if they are. A negative n gives bytes back.
func (b *bucket) take(n int64) time.Time {
	if b.credit.Add(-n) >= 0 {
		return time.Time{}
	}
	b.credit.Add(n)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.fill(now)
	return b.coveredAt(b.credit.Add(-n))
}

// fill lets credit grow until now. The caller holds mu.
func (b *bucket) fill(now time.Time) {
	rate, passed := float64(b.rate.Load()), now.Sub(b.filled)
	if passed <= 0 {
		return
	}
	room := int64(rate*burst.Seconds()) - b.credit.Load()
	grown := int64(rate * passed.Seconds())
	if grown >= room {
		b.credit.Add(max(room, 0))
		b.filled = now
		return
	}
	b.credit.Add(grown)
	b.filled = b.filled.Add(time.Duration(float64(grown) / rate * float64(time.Second))) // a part of a byte stays
}

// coveredAt returns when there will be no bytes left to cover, if the bucket was filled and has so much credit.
func (b *bucket) coveredAt(credit int64) time.Time {
	rate := b.rate.Load()
	if credit >= 0 || rate == 0 {
		return time.Time{}
	}
	return b.filled.Add(time.Duration(float64(-credit)/float64(rate)*float64(time.Second)) + 1)
}

// isCovered reports whether all bytes that were taken are covered.
func (b *bucket) isCovered(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	return b.credit.Load() >= 0
}
