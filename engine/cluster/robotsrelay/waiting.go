package robotsrelay

import (
	"sync"
	"time"
)

const (
	// waitMax is how long a site waits. A result that comes later is not taken.
	waitMax = 2 * time.Minute
	// checkPeriod is how often all waiting sites are looked at.
	checkPeriod = time.Second
)

// waitingSites are sites of this agent that wait for a robots.txt which another agent fetches. The zero value is empty.
type waitingSites struct {
	mu        sync.Mutex
	bySite    map[string]waitingSite // guarded by mu
	nextCheck time.Time              // guarded by mu
}

// waitingSite is what a site waits for.
type waitingSite struct {
	until time.Time
	agent string // that was asked
}

// add notes that a site waits from now on for the answer of an agent.
func (w *waitingSites) add(site []byte, agent string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bySite == nil {
		w.bySite = make(map[string]waitingSite)
	}
	w.bySite[string(site)] = waitingSite{now.Add(waitMax), agent}
}

// AskedAgent is the agent that was asked for the robots.txt of a site; empty if the site waits for none.
func (w *waitingSites) AskedAgent(site []byte) (id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bySite[string(site)].agent
}

// Forget ends the wait of a site.
func (w *waitingSites) Forget(site []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.bySite, string(site))
}

// AwaitsRobots says that a site of this agent waits for another agent.
func (w *waitingSites) AwaitsRobots() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.bySite) > 0
}

// takeOverdue removes the sites that have waited too long, and returns them.
func (w *waitingSites) takeOverdue(now time.Time) (sites [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Before(w.nextCheck) {
		return nil
	}
	w.nextCheck = now.Add(checkPeriod)
	for site, wait := range w.bySite {
		if !now.Before(wait.until) {
			sites = append(sites, []byte(site))
			delete(w.bySite, site)
		}
	}
	return sites
}
