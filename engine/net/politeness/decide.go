package politeness

import (
	"math/bits"
	"time"

	"orbweaver/internal/outcome"
)

// Attempt is what became of one attempt, and what is known about its site and IP address.
type Attempt struct {
	Outcome        outcome.Outcome
	Try            int // number of this try of the URL, from 0
	Started, Ended time.Time
	CrawlDelay     time.Duration  // Crawl-delay in the site's robots.txt; 0 or less for none
	HostDelay      *time.Duration // host delay that the operator set for this site; nil for Policy.HostDelay. Borrowed
	GroupDelay     time.Duration  // delay of the group of hosts, in place of IPDelay if it is longer
	RetryAfter     time.Duration  // Retry-After of the response; 0 or less for none
	SiteFailures   int            // from the last Decision for the site; 0 for a new site
	AddrFailures   int            // how many of SiteFailures belong to other addresses of the host, and do not count
	SiteSlowdown   Slowdown       // from the last Decision for the site; 0 for a new site
	FailedBefore   bool           // the previous attempt at the site failed too, and the site already backs off
	PageOnly       bool           // the site serves other pages: the failure belongs to this URL
	IPSlowdown     IPSlowdown     // from the last Decision for the IP address; zero for a new one
	SiteHash       uint16         // bits of a hash of the site key, never 0; tells the sites of an IP address apart
	Jitter         uint64         // random bits from the caller
}

// Decision is what follows from an Attempt.
type Decision struct {
	// Retry: try the URL again, as try number Try+1, once the site is due.
	Retry bool
	// SiteDue and IPDue are the earliest times of the next request to the site and to the IP address; zero if they do
	// not change.
	SiteDue, IPDue time.Time
	// SiteFailures is the new number of consecutive failures of the site: above 0 if it could not be reached, below 0
	// if it asked to slow down, 0 if the last attempt got another answer. Range: -1024 to 1024.
	SiteFailures int
	// SiteSlowdown and IPSlowdown are the new slowdowns.
	SiteSlowdown Slowdown
	IPSlowdown   IPSlowdown
	// GiveUpSite: the site is dead. Retry is then false.
	GiveUpSite bool
}

const failuresMax = 1024

// Decide returns what follows from a. It panics if the outcome is None or out of range.
func (p *Policy) Decide(a Attempt) Decision {
	if a.Outcome == outcome.None || int(a.Outcome) >= outcome.Count {
		panic("BUG: politeness: an attempt has no outcome")
	}
	rule := &p.Table[a.Outcome]
	end := a.Ended
	if end.Before(a.Started) {
		end = a.Started
	}
	d := Decision{
		SiteFailures: rule.Effect.count(a.SiteFailures),
		SiteSlowdown: a.SiteSlowdown,
		IPSlowdown:   a.IPSlowdown,
	}
	giveUpAfter := p.giveUpAfter(rule)
	failures := d.SiteFailures
	if failures > 0 {
		failures = max(failures-a.AddrFailures, 1)
	}
	d.GiveUpSite = giveUpAfter > 0 && abs(failures) >= giveUpAfter
	d.Retry = rule.Retry && !d.GiveUpSite && a.Try+1 < p.triesOf(rule)
	if !rule.Contact && !rule.SiteBackoff {
		return d
	}
	delay := p.SiteDelay(a.HostDelay, a.CrawlDelay)
	d.SiteSlowdown = p.siteSlowdown(&a, rule, delay)
	wait, backoff := delay, time.Duration(0)
	if d.SiteSlowdown > 0 {
		backoff = d.SiteSlowdown.lengthen(delay, p.SlowedDelayMax)
	}
	switch {
	case rule.SiteBackoff && rule.Effect == Busy:
		backoff = max(backoff, p.busyWait(a.RetryAfter, -d.SiteFailures))
	case rule.SiteBackoff:
		backoff = max(backoff, at(p.HostBackoff, failures-1))
	case d.Retry && rule.Tries != unlimitedTries:
		wait = max(wait, at(p.RetryDelays, a.Try))
	}
	wait = max(wait, min(addJitter(backoff, a.Jitter), p.longest(delay)))
	d.SiteDue = end.Add(wait)
	if rule.Contact {
		ipDelay := max(p.IPDelay, a.GroupDelay)
		d.IPSlowdown = a.IPSlowdown.after(rule, a.SiteHash, ipDelay, p.SlowedIPDelayMax)
		ipWait := d.IPSlowdown.Level.lengthen(ipDelay, p.SlowedIPDelayMax)
		if ipWait > ipDelay {
			ipWait = addJitter(ipWait, bits.Reverse64(a.Jitter))
		}
		d.IPDue = end.Add(ipWait)
	}
	return d
}

// triesOf returns how often a URL is tried whose tries end like this.
func (p *Policy) triesOf(rule *Rule) int {
	if p.Tries > 0 && rule.Tries != unlimitedTries {
		return p.Tries
	}
	return rule.Tries
}

// giveUpAfter returns the number of consecutive failures after which a site is dead; 0 for never. Tries shortens it.
func (p *Policy) giveUpAfter(rule *Rule) int {
	if p.Tries > 0 {
		return min(p.Tries, rule.GiveUpAfter)
	}
	return rule.GiveUpAfter
}

// WaitsUntilGivenUp returns the sum of the waits between the next try of a site and its last one, after so many
// consecutive failures. The last failure had the outcome o.
func (p *Policy) WaitsUntilGivenUp(failures int, o outcome.Outcome) (wait time.Duration) {
	for n := failures + 1; n < p.giveUpAfter(&p.Table[o]); n++ {
		wait += at(p.HostBackoff, n-1)
	}
	return wait
}

// siteSlowdown returns the slowdown of a site after one more attempt.
func (p *Policy) siteSlowdown(a *Attempt, rule *Rule, delay time.Duration) Slowdown {
	switch {
	case rule.isFinalAnswer():
		return a.SiteSlowdown.decrease()
	case rule.Effect != Busy, a.PageOnly, rule.SlowOnce && (a.FailedBefore || a.Try > 0):
		return a.SiteSlowdown
	case a.RetryAfter > 0:
		return a.SiteSlowdown.increase(slowdownStepRetryAfter, delay, p.SlowedDelayMax)
	default:
		return a.SiteSlowdown.increase(slowdownStep, delay, p.SlowedDelayMax)
	}
}

// longest returns the upper limit of a wait with jitter.
func (p *Policy) longest(delay time.Duration) time.Duration {
	return max(delay, p.RetryAfterMax, p.BackoffMax+p.BackoffMax/4, p.SlowedDelayMax+p.SlowedDelayMax/4)
}

// busyWait returns the wait after the nth consecutive request to slow down, n from 1. It doubles each time, without
// Retry-After.
func (p *Policy) busyWait(retryAfter time.Duration, n int) time.Duration {
	if retryAfter > 0 {
		return min(retryAfter, p.RetryAfterMax)
	}
	wait := p.BackoffMin
	for ; n > 1 && wait < p.BackoffMax; n-- {
		wait *= 2
	}
	return min(wait, p.BackoffMax)
}

// FailureWait returns the wait after n consecutive failures, n from 1, that may be faults of the site or of the URLs.
func (p *Policy) FailureWait(n int, jitter uint64) time.Duration {
	return addJitter(p.busyWait(0, n), jitter)
}

// count returns the number of consecutive failures after one more outcome of this effect.
func (e Effect) count(before int) int {
	before = min(max(before, -failuresMax), failuresMax)
	switch e {
	case ResetsFailures:
		return 0
	case Busy:
		return max(min(before, 0)-1, -failuresMax)
	case Unreachable:
		return min(max(before, 0)+1, failuresMax)
	default:
		return before
	}
}

// at returns the ith wait; the last one if i is larger.
func at(waits []time.Duration, i int) time.Duration {
	return waits[min(max(i, 0), len(waits)-1)]
}

func abs(n int) int { return max(n, -n) }

// SiteDelay returns the host delay of a site: own, which the operator set for it, or HostDelay if own is nil. It is at
// least crawlDelay, the Crawl-delay of robots.txt (0 for none), as far as CrawlDelayMax allows.
func (p *Policy) SiteDelay(own *time.Duration, crawlDelay time.Duration) time.Duration {
	delay := p.HostDelay
	if own != nil {
		delay = *own
	}
	return max(delay, min(crawlDelay, p.CrawlDelayMax))
}
