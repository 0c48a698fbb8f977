package engine

import (
	"sync"
	"time"
)

// crawlClock adds this run's time to that of the runs before.
type crawlClock struct {
	usage func() (cpu time.Duration, rssPeak int64) // of this process; nil in tests without one

	mu       sync.Mutex
	started  time.Time
	wallPast time.Duration
	cpuPast  time.Duration
	cpuStart time.Duration
	rssPast  int64
}

func newCrawlClock(m *manifest, usage func() (time.Duration, int64)) *crawlClock {
	c := &crawlClock{
		usage: usage, started: time.Now(), rssPast: m.RSSPeak,
		wallPast: time.Duration(m.WallSeconds * float64(time.Second)),
		cpuPast:  time.Duration(m.CPUSeconds * float64(time.Second)),
	}
	if usage != nil {
		c.cpuStart, _ = usage()
	}
	return c
}

// wall is the running time of all runs together.
func (c *crawlClock) wall() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wallPast + time.Since(c.started)
}

// fill writes the sums into a manifest.
func (c *crawlClock) fill(m *manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.WallSeconds = (c.wallPast + time.Since(c.started)).Seconds()
	if c.usage == nil {
		return
	}
	cpu, rss := c.usage()
	m.CPUSeconds = (c.cpuPast + cpu - c.cpuStart).Seconds()
	m.RSSPeak = max(c.rssPast, rss)
}
