package checkpoint

import (
	"math/bits"
	"sync"
	"time"
)

// Pauses counts how long the crawl stood still for its checkpoints, in buckets that grow by an eighth.
type Pauses struct {
	mu      sync.Mutex
	buckets [8 * 40]int64
	count   int64
	longest time.Duration
	last    time.Time // of the state that the last durable checkpoint has
}

func (p *Pauses) add(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buckets[pauseBucket(d)]++
	p.count++
	p.longest = max(p.longest, d)
}

// noteDurable notes that a checkpoint is durable that has the state of a moment.
func (p *Pauses) noteDurable(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = at
}

// Age is how old the state of the last durable checkpoint of this run is; 0 if there is none.
func (p *Pauses) Age(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() {
		return 0
	}
	return max(now.Sub(p.last), 0)
}

// pauseBucket is the number of a pause's bucket: the place of its highest bit, and the three bits behind it.
func pauseBucket(d time.Duration) int {
	n := uint64(max(d, 8))
	exp := bits.Len64(n) - 4
	return min(8*exp+int(n>>exp&7), 8*40-1)
}

// pauseLimit is the upper end of a bucket.
func pauseLimit(i int) time.Duration { return time.Duration(uint64(9+i%8) << (i / 8)) }

// Quantile is a bound that the share q of all pauses keeps, at most an eighth too large; 0 without pauses.
func (p *Pauses) Quantile(q float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := int64(0)
	for i, n := range p.buckets {
		if sum += n; n > 0 && float64(sum) >= q*float64(p.count) {
			return min(pauseLimit(i), p.longest)
		}
	}
	return 0
}

// Total is the number of pauses and the longest.
func (p *Pauses) Total() (count int64, longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, p.longest
}
