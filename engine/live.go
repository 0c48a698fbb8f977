package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/filter"
	"orbweaver/engine/politeness"
)

// Live holds the few things that may change while a crawl runs. It is safe for concurrent use.
type Live struct {
	set   atomic.Pointer[politeness.Policy] // with the changes
	turn  sync.Mutex                        // of who changes set: each is made of all that was said before
	hosts *hostRules
	fetch atomic.Pointer[filter.Fetch] // nil if it refuses nothing
}

func newLive(p politeness.Policy, hosts *hostRules) *Live {
	l := &Live{hosts: hosts}
	l.set.Store(&p)
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
	l.turn.Lock()
	defer l.turn.Unlock()
	p := *l.set.Load()
	switch key {
	case "host-delay":
		p.HostDelay = d
	case "ip-delay":
		p.IPDelay = d
	default:
		return fmt.Errorf("engine: %q cannot be set while the crawl runs; host-delay, ip-delay and fetch can", key)
	}
	l.set.Store(&p)
	return nil
}
