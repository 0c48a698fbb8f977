package agent

import (
	"sync"
	"time"

	"orbweaver/engine/site"
)

// awaited are the sites of this agent that wait for what another asks for on their behalf (robotsletter.go). What came
// of it may go astray: agents do not hear at the same moment who is there, so that it may be sent to one that takes the
// site for its own, or to nobody. So after a while it counts as unreachable, and is asked for again.
type awaited struct {
	mu    sync.Mutex
	of    map[string]awaiting // guarded by mu: by key
	again time.Time           // guarded by mu: when to look who has waited for too long
}

// awaiting is what a site waits for.
type awaiting struct {
	until time.Time
	agent string // that was asked, and may answer
}

const (
	// awaitedMost is how long a site waits. An answer that comes later is not taken.
	awaitedMost = 2 * time.Minute
	// awaitedLook is how often all of them are looked at.
	awaitedLook = time.Second
)

// add notes that a site waits from now on for what an agent says.
func (a *awaited) add(site []byte, agent string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = make(map[string]awaiting)
	}
	a.of[string(site)] = awaiting{now.Add(awaitedMost), agent}
}

// asked is the agent that a site waits for; empty if it waits for none.
func (a *awaited) asked(site []byte) (agent string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of[string(site)].agent
}

// drop notes that it does not.
func (a *awaited) drop(site []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.of, string(site))
}

// any says that one waits.
func (a *awaited) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.of) > 0
}

// overdue are those that have waited for too long, and do not wait any more.
func (a *awaited) overdue(now time.Time) (sites [][]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.again) {
		return nil
	}
	a.again = now.Add(awaitedLook)
	for site, one := range a.of {
		if !now.Before(one.until) {
			sites = append(sites, []byte(site))
			delete(a.of, site)
		}
	}
	return sites
}

// AwaitsRobots says that a site of this agent waits for another agent.
func (p *agent) AwaitsRobots() bool { return p.awaited.any() }

// giveUpWaiting ends the waiting of sites that have waited for too long.
func (p *agent) giveUpWaiting(now time.Time) error {
	for _, s := range p.awaited.overdue(now) {
		if !p.views.Load().Owns(s) {
			continue
		}
		if err := p.robots.DeliverRobots(&site.RobotsResult{Site: s, Unreachable: true}); err != nil {
			return err
		}
	}
	return nil
}
