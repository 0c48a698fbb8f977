package politeness

import (
	"math/bits"
	"time"

	"orbweaver/engine/outcome"
)

// Attempt is what became of one attempt, and what is known about its site.
type Attempt struct {
	Outcome        outcome.Outcome
	Try            int // of this URL, 0 first
	Started, Ended time.Time
	CrawlDelay     time.Duration  // of the site's robots.txt; 0 or less for none
	HostDelay      *time.Duration // that the operator set for this site, in place of the policy's; nil for none. Borrowed
	RetryAfter     time.Duration  // of the response; 0 or less for none
	SiteFailures   int            // as the last Decision for the site said; 0 for a new site
	SiteStrain     Strain         // the same
	FailedBefore   bool           // the attempt before failed too, and the site waits ever longer for that
	PageOnly       bool           // the site serves other pages: what fails is this one
	IPStrain       IPStrain       // as the last Decision for the IP said; zero for a new one
	Site           uint16         // tells the sites of an IP apart: some bits of a hash, not 0
	Jitter         uint64         // random bits of the caller
}

// Decision is what follows from an Attempt.
type Decision struct {
	// Retry says that the URL is to be tried again, as try number Try+1, once the site is due.
	Retry bool
	// SiteDue and IPDue are the earliest times of the next request to the site and the IP; zero when they stay as they are.
	SiteDue, IPDue time.Time
	// SiteFailures is the site's new number of failures in a row: positive when it could not be reached, negative
	// when it asked to slow down, 0 when it answered last. Between -1024 and 1024.
	SiteFailures int
	// SiteStrain and IPStrain are the new strains.
	SiteStrain Strain
	IPStrain   IPStrain
	// KillSite says that the site is to be given up. Retry is false then.
	KillSite bool
}

const failuresMax = 1024

// Decide says what follows from a. An Outcome that has no row because it is not what becomes of an attempt (None, or out of
// range) is a bug of the caller.
func (p *Policy) Decide(a Attempt) Decision {
	if a.Outcome == outcome.None || int(a.Outcome) >= outcome.Count {
		panic("BUG: politeness: an attempt without an outcome")
	}
	rule := &p.Table[a.Outcome]
	end := a.Ended
	if end.Before(a.Started) {
		end = a.Started
	}
	d := Decision{SiteFailures: rule.Effect.count(a.SiteFailures), SiteStrain: a.SiteStrain, IPStrain: a.IPStrain}
	d.KillSite = rule.KillAfter > 0 && abs(d.SiteFailures) >= rule.KillAfter
	d.Retry = rule.Retry && !d.KillSite && a.Try+1 < rule.Tries
	if !rule.Contact && !rule.SiteBackoff {
		return d
	}
	delay := p.SiteDelay(a.HostDelay, a.CrawlDelay)
	d.SiteStrain = p.siteStrain(&a, rule, delay)
	wait, backoff := delay, time.Duration(0)
	if d.SiteStrain > 0 {
		backoff = d.SiteStrain.stretch(delay, p.StretchMax)
	}
	switch {
	case rule.SiteBackoff && rule.Effect == Busy:
		backoff = max(backoff, p.busyWait(a.RetryAfter, -d.SiteFailures))
	case rule.SiteBackoff:
		backoff = max(backoff, at(p.HostBackoff, d.SiteFailures-1))
	case d.Retry && rule.Tries != anyTries:
		wait = max(wait, at(p.RetryDelays, a.Try))
	}
	wait = max(wait, min(jittered(backoff, a.Jitter), p.longest(delay)))
	d.SiteDue = end.Add(wait)
	if rule.Contact {
		d.IPStrain = a.IPStrain.after(rule, a.Site, p.IPDelay, p.IPStretchMax)
		ipWait := d.IPStrain.Level.stretch(p.IPDelay, p.IPStretchMax)
		if ipWait > p.IPDelay {
			ipWait = jittered(ipWait, bits.Reverse64(a.Jitter))
		}
		d.IPDue = end.Add(ipWait)
	}
	return d
}

// siteStrain is the strain of a site after one more attempt.
func (p *Policy) siteStrain(a *Attempt, rule *Rule, delay time.Duration) Strain {
	switch {
	case rule.good():
		return a.SiteStrain.fall()
	case rule.Effect != Busy, a.PageOnly, rule.StrainOnce && (a.FailedBefore || a.Try > 0):
		return a.SiteStrain
	case a.RetryAfter > 0:
		return a.SiteStrain.rise(strainTold, delay, p.StretchMax)
	default:
		return a.SiteStrain.rise(strainTrouble, delay, p.StretchMax)
	}
}

// longest is the longest that a jittered wait may become.
func (p *Policy) longest(delay time.Duration) time.Duration {
	return max(delay, p.RetryAfterMax, p.BackoffMax+p.BackoffMax/4, p.StretchMax+p.StretchMax/4)
}

// busyWait is how long a site waits that has asked to slow down for the nth time in a row, n from 1.
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

// TroubleWait is how long a site waits after n failures in a row that each could be its own or those of the URLs, n from 1.
func (p *Policy) TroubleWait(n int, jitter uint64) time.Duration {
	return jittered(p.busyWait(0, n), jitter)
}

// count is the number of failures in a row after one more outcome of this effect.
func (e Effect) count(before int) int {
	before = min(max(before, -failuresMax), failuresMax)
	switch e {
	case Forgives:
		return 0
	case Busy:
		return max(min(before, 0)-1, -failuresMax)
	case Unreachable:
		return min(max(before, 0)+1, failuresMax)
	default:
		return before
	}
}

// at is the ith wait, the last for all beyond.
func at(waits []time.Duration, i int) time.Duration {
	return waits[min(max(i, 0), len(waits)-1)]
}

func abs(n int) int { return max(n, -n) }

// SiteDelay is the least time between two requests to a site: that which the operator set for it (nil for none) or the
// general one, and no less than what its robots.txt asks for (0 for nothing).
func (p *Policy) SiteDelay(own *time.Duration, crawlDelay time.Duration) time.Duration {
	delay := p.HostDelay
	if own != nil {
		delay = *own
	}
	return max(delay, min(crawlDelay, p.CrawlDelayMax))
}
