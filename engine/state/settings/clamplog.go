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

	mu                            sync.Mutex
	delays, waits, files, unknown throttle.Log
}

// warn logs a message with its number, unless an equal one was logged just before.
func (c *ClampLog) warn(log *throttle.Log, now time.Time, msg string, args ...any) {
	c.mu.Lock()
	n, ok := log.Allow(now)
	c.mu.Unlock()
	if ok {
		c.Warn(msg, append(args, "times", n)...)
	}
}

// CrawlDelay tells of a robots.txt that asks for more than is kept.
func (c *ClampLog) CrawlDelay(now time.Time, site []byte, asked, kept time.Duration) {
	c.warn(&c.delays, now, "a site asks for a longer Crawl-delay than is kept (--crawl-delay-max)",
		"site", string(site), "asked", asked.String(), "kept", kept.String())
}

// RobotsLarge tells of a robots.txt for whose rules there was no memory.
func (c *ClampLog) RobotsLarge(now time.Time, site []byte, size int) {
	c.warn(&c.files, now, "memory for the rules of robots.txt files is short: large ones are taken for unreachable "+
		"until it is not; raise --workbench-memory", "site", string(site), "bytes", size)
}

// UnknownRobots is an answer that leaves the rules of a site unknown.
type UnknownRobots struct {
	Site   []byte
	Seen   string    // what is wrong with the answer
	Status int       // of the response; 0 if it has no head
	Due    time.Time // when the file is asked for again; zero if it is not known yet
}

// RobotsUnknown tells of a robots.txt that was answered and is not known.
func (c *ClampLog) RobotsUnknown(now time.Time, u *UnknownRobots) {
	again := "later"
	if !u.Due.IsZero() {
		again = u.Due.UTC().Format(time.RFC3339)
	}
	c.warn(&c.unknown, now,
		"a robots.txt is not known: without an earlier copy, nothing of its site is fetched until it is read whole",
		"site", string(u.Site), "seen", u.Seen, "status", u.Status, "asked_again", again)
}

// RetryAfter tells of a Retry-After that was brought between nothing and the limit of the policy.
func (c *ClampLog) RetryAfter(now time.Time, url, value []byte, kept time.Duration) {
	c.warn(&c.waits, now, "a Retry-After is out of range: negative or longer than the limit",
		"url", string(url[:min(len(url), 200)]), "value", string(value[:min(len(value), 64)]), "kept", kept.String())
}
