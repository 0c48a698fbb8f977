package settings

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/bandwidth"
	"orbweaver/engine/filter"
	"orbweaver/engine/politeness"
)

// Live holds the few things that may change while a crawl runs. It is safe for concurrent use.
type Live struct {
	set   atomic.Pointer[politeness.Policy] // with the changes
	turn  sync.Mutex                        // held while set changes: each change starts from the value before
	Hosts *HostRules
	Fetch atomic.Pointer[filter.Fetch] // nil if it refuses nothing

	Bandwidth *bandwidth.Limits
}

// NewLive returns the settings at the start of a run.
func NewLive(p politeness.Policy, hosts *HostRules) *Live {
	l := &Live{Hosts: hosts, Bandwidth: bandwidth.Unlimited()}
	l.set.Store(&p)
	return l
}

// Policy returns the policy in force.
func (l *Live) Policy() *politeness.Policy { return l.set.Load() }

// SiteDelay is the least time between two requests to a site whose robots.txt asks for crawlDelay.
func (l *Live) SiteDelay(site []byte, crawlDelay time.Duration) time.Duration {
	t := l.Hosts.Terms(site)
	return l.Policy().SiteDelay(t.Delay(), crawlDelay)
}

// FetchErrors counts the evaluations of the fetch filter in force that failed.
func (l *Live) FetchErrors() int64 {
	if f := l.Fetch.Load(); f != nil {
		return int64(f.Errors())
	}
	return 0
}

// SetDelay changes host-delay or ip-delay for all exchanges that end from now on.
func (l *Live) SetDelay(key string, d time.Duration) error {
	if d < 0 || d > 24*time.Hour {
		return fmt.Errorf("%s: %v is not between 0 and 24h", key, d)
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
		return fmt.Errorf("%.80s cannot be changed while the crawl runs; %s can", key, changeable)
	}
	l.set.Store(&p)
	return nil
}
