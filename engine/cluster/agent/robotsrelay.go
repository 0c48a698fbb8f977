package agent

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/urlx"
)

// relaySites are the sites of this agent.
type relaySites interface {
	// DeliverRobots gives a result to the site that waits for it.
	DeliverRobots(r *site.RobotsResult) error
	// SettleRobots is DeliverRobots, or relay.SendResult if another agent owns the site.
	SettleRobots(r *site.RobotsResult) error
	// RedirectRobots puts a redirect at the head of the site that it leads to.
	RedirectRobots(r *site.RobotsRedirect) error
}

// relay carries redirects and results.
type relay struct {
	waitingSites

	views  *ownership.Timeline
	outbox *outbox.Outbox
	sites  relaySites
	rules  *site.RulesPool
	// isExcluded says that the rules for hosts exclude a site.
	isExcluded func(site []byte) bool
	// steps counts the effects of messages, for termination detection.
	steps *atomic.Int64
}

// SendRedirect gives a redirect to the agent that owns its target, and says whether that is another agent.
func (r *relay) SendRedirect(redirect *site.RobotsRedirect) bool {
	if r.views.Load().Owns(redirect.Site) {
		return false
	}
	it := queued.MustDecode(redirect.Item)
	it.Rest = append(append([]byte(nil), redirect.Site...), it.Rest...)
	r.Route(&it)
	return true
}

// Route sends a redirect, whose URL is whole in it.Rest, to the agent that owns its target if this agent owns the site
// that waits; else to the owner of that site.
func (r *relay) Route(it *queued.URL) {
	v := r.views.Load()
	to := v.OwnerOf(it.RobotsOf)
	if to == v.Self {
		to = v.OwnerOf(it.Rest)
		r.add(it.RobotsOf, v.Agents[to].ID, time.Now())
	}
	if to != v.Self { // else the view has changed meanwhile: the site is given up, and asks again
		r.outbox.Put(v.Instances[to], message.AppendRobotsRedirect(nil, it))
	}
}

// SendResult gives a result to the agent that owns the site that waits, and says whether that is another agent.
func (r *relay) SendResult(result *site.RobotsResult) bool {
	v := r.views.Load()
	owner := v.OwnerOf(result.Site)
	if owner == v.Self {
		r.Forget(result.Site)
		return false
	}
	r.steps.Add(1)
	r.outbox.PutBacklog(v.Instances[owner], message.AppendRobotsResult(nil, result, time.Now()))
	return true
}

// TakeResult ends the wait of a site with the result of another agent, which arrived at most delay ago. If the site has
// another owner now, the result is sent there. TakeResult takes the result.
func (r *relay) TakeResult(result *site.RobotsResult, delay time.Duration) error {
	result.Age += delay
	if result.Rules != nil && (result.Age >= site.RobotsLifetime || !r.rules.Accepts(result.Rules)) {
		result.Rules, result.Unreachable = nil, true
	}
	if r.SendResult(result) {
		return nil
	}
	r.steps.Add(1)
	return r.sites.DeliverRobots(result)
}

// TakeRedirect takes a redirect to a host of this agent, whose URL is whole in it.Rest, or sends it on.
func (r *relay) TakeRedirect(it queued.URL) error {
	r.steps.Add(1)
	redirect := &site.RobotsRedirect{Origin: bytes.Clone(it.RobotsOf)}
	key, path := urlx.Split(it.Rest)
	it.Rest = path
	redirect.Site, redirect.Item = bytes.Clone(key), queued.Append(nil, &it)
	if r.isExcluded(redirect.Site) {
		return r.sites.SettleRobots(&site.RobotsResult{Site: redirect.Origin, Unreachable: true})
	}
	return r.sites.RedirectRobots(redirect)
}

// GiveUpOverdue ends the wait of sites that have waited too long. It looks at most once a second.
func (r *relay) GiveUpOverdue(now time.Time) error {
	for _, key := range r.takeOverdue(now) {
		if !r.views.Load().Owns(key) {
			continue
		}
		if err := r.sites.DeliverRobots(&site.RobotsResult{Site: key, Unreachable: true}); err != nil {
			return err
		}
	}
	return nil
}

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
