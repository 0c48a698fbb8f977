package lifecycle

import (
	"sync"
	"time"
)

// Usage is what a crawl has used in all its runs.
type Usage struct {
	Wall, CPU time.Duration
	RSSPeak   int64 // bytes, the largest of all runs
}

// RunTime adds the usage of this run to that of the runs before. Its methods are safe for concurrent use.
type RunTime struct {
	measure func() (cpu time.Duration, rssPeak int64) // of this process; nil in tests without it

	mu       sync.Mutex
	started  time.Time
	past     Usage // of the runs before
	cpuStart time.Duration
}

// NewRunTime starts to count; measure may be nil.
func NewRunTime(past Usage, measure func() (cpu time.Duration, rssPeak int64)) *RunTime {
	c := &RunTime{measure: measure}
	c.Restart(past)
	return c
}

// Restart replaces what the runs before have used, and counts from now.
func (c *RunTime) Restart(past Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.past = time.Now(), past
	if c.measure != nil {
		c.cpuStart, _ = c.measure()
	}
}

// Wall is the running time of all runs together.
func (c *RunTime) Wall() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past.Wall + time.Since(c.started)
}

// Started is when this run began.
func (c *RunTime) Started() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// Usage is the usage of all runs together.
func (c *RunTime) Usage() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.past
	u.Wall += time.Since(c.started)
	if c.measure == nil {
		return u
	}
	cpu, rss := c.measure()
	u.CPU += cpu - c.cpuStart
	u.RSSPeak = max(u.RSSPeak, rss)
	return u
}
