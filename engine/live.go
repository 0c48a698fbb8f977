package engine

import (
	"fmt"
	"sync/atomic"
	"time"

	"orbweaver/engine/filter"
	"orbweaver/engine/politeness"
)

// Live holds the few things that may change while a crawl runs. It is safe for concurrent use.
type Live struct {
	hostDelay atomic.Int64 // nanoseconds plus one; 0 leaves the policy as it is
	ipDelay   atomic.Int64
	set       atomic.Pointer[politeness.Policy] // the policy with the changes
	hosts     *hostRules
	fetch     atomic.Pointer[filter.Fetch] // nil if it refuses nothing
	base      politeness.Policy
}

func newLive(p politeness.Policy, hosts *hostRules) *Live {
	l := &Live{base: p, hosts: hosts}
	l.set.Store(&l.base)
	return l
}

// policy returns the policy in force.
func (l *Live) policy() *politeness.Policy { return l.set.Load() }

// siteDelay is the least time between two requests to a site whose robots.txt asks for crawlDelay.
func (l *Live) siteDelay(site []byte, crawlDelay time.Duration) time.Duration {
	t := l.hosts.terms(site)
	return l.policy().SiteDelay(t.Delay(), crawlDelay)
}

// fetchErrors counts the evaluations of the fetch filter in force that failed.
func (l *Live) fetchErrors() int64 {
	if f := l.fetch.Load(); f != nil {
		return int64(f.Errors())
	}
	return 0
}

// SetDelay changes host-delay or ip-delay for all exchanges that end from now on.
func (l *Live) SetDelay(key string, d time.Duration) error {
	if d < 0 || d > 24*time.Hour {
		return fmt.Errorf("engine: %s: %v is not between 0 and 24h", key, d)
	}
	switch key {
	case "host-delay":
		l.hostDelay.Store(int64(d) + 1)
	case "ip-delay":
		l.ipDelay.Store(int64(d) + 1)
	default:
		return fmt.Errorf("engine: %q cannot be set while the crawl runs; host-delay, ip-delay and fetch can", key)
	}
	p := l.base
	if v := l.hostDelay.Load(); v > 0 {
		p.HostDelay = time.Duration(v - 1)
	}
	if v := l.ipDelay.Load(); v > 0 {
		p.IPDelay = time.Duration(v - 1)
	}
	l.set.Store(&p)
	return nil
}
