package settings

import (
	"sync"
	"time"

	"orbweaver/internal/throttle"
)

// ClampLog tells the log now and again that a site has asked for more patience than it gets: a Crawl-delay above the
// cap, a Retry-After that is none or beyond a day. All are counted; a million servers that write nonsense do not fill
// the log.
type ClampLog struct {
	Warn func(msg string, args ...any)

	mu                   sync.Mutex
	delays, waits, files throttle.Log
}

// CrawlDelay tells of a robots.txt that asks for more than is kept.
func (c *ClampLog) CrawlDelay(now time.Time, site []byte, asked, kept time.Duration) {
	c.mu.Lock()
	n, ok := c.delays.Allow(now)
	c.mu.Unlock()
	if ok {
		c.Warn("a site asks for a longer Crawl-delay than is kept (--crawl-delay-max)", "site", string(site),
			"asked", asked.String(), "kept", kept.String(), "times", n)
	}
}

// RobotsLarge tells of a robots.txt for whose rules there was no memory.
func (c *ClampLog) RobotsLarge(now time.Time, site []byte, size int) {
	c.mu.Lock()
	n, ok := c.files.Allow(now)
	c.mu.Unlock()
	if ok {
		c.Warn(
			"memory for the rules of robots.txt files is short: large ones are taken for unreachable until it is not; "+
				"raise --workbench-memory",
			"site",
			string(site),
			"bytes",
			size,
			"times",
			n,
		)
	}
}

// RetryAfter tells of a Retry-After that was brought between nothing and the limit of the policy.
func (c *ClampLog) RetryAfter(now time.Time, url, value []byte, kept time.Duration) {
	c.mu.Lock()
	n, ok := c.waits.Allow(now)
	c.mu.Unlock()
	if ok {
		c.Warn(
			"a Retry-After is out of range: negative or longer than the limit",
			"url",
			string(url[:min(len(url), 200)]),
			"value",
			string(value[:min(len(value), 64)]),
			"kept",
			kept.String(),
			"times",
			n,
		)
	}
}
