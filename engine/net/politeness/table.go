package politeness

import (
	"fmt"

	"orbweaver/internal/outcome"
)

// Effect is what an outcome shows about the site as a whole.
type Effect uint8

// The effects.
const (
	NoEffect       Effect = iota // nothing: the consecutive failures do not change
	ResetsFailures               // it answers: the consecutive failures become 0
	Busy                         // it asks to slow down: one more consecutive failure of this kind
	Unreachable                  // it cannot be reached: one more consecutive failure of this kind
)

// Rule is a row of the table: what follows from one outcome.
type Rule struct {
	// Contact: a request reached the network, so the delays of site and IP address run from its end.
	Contact bool
	// Retry: the URL is tried again, Tries times in all.
	Retry bool
	Tries int
	// SiteBackoff: the whole site waits, by its consecutive failures: as long as it asks (Busy), or by HostBackoff
	// (Unreachable). Without it, a retry waits by RetryDelays.
	SiteBackoff bool
	// GiveUpAfter is the number of consecutive failures of this effect after which the site is dead; 0 for never.
	GiveUpAfter int
	Effect      Effect
	// SlowOnce: the fault may be of the page and not of the site. So it counts once for each URL, and once for
	// consecutive failures, in the slowdown.
	SlowOnce bool
	// SlowsIP: the fault may be of the machine and not only of the site: see IPSlowdown.
	SlowsIP bool
}

// isFinalAnswer reports whether the outcome is an answer that needs no retry.
func (r *Rule) isFinalAnswer() bool { return r.Effect == ResetsFailures && !r.Retry }

// defaultTable returns a row for every outcome. A zero row means that no request was made and nothing follows.
//
//nolint:exhaustive // None has no row: an attempt never has it
func defaultTable() [outcome.Count]Rule {
	var (
		answer = Rule{Contact: true, Effect: ResetsFailures}
		busy   = Rule{Contact: true, Effect: Busy, Retry: true, Tries: 5, SiteBackoff: true, SlowsIP: true}
		// of the site alone: other sites on its address, as that of a service, are served
		wall   = Rule{Contact: true, Effect: Busy, Retry: true, Tries: 5, SiteBackoff: true}
		closed = Rule{
			Contact:     true,
			Effect:      Busy,
			Retry:       true,
			Tries:       3,
			SiteBackoff: true,
			SlowOnce:    true,
			SlowsIP:     true,
		}
		failed = Rule{Contact: true, Effect: ResetsFailures, Retry: true, Tries: 3} // an answer, but a bad one
		slow   = Rule{Contact: true, Effect: ResetsFailures, Retry: true, Tries: 3, SlowsIP: true}
		fault  = Rule{Contact: true, Effect: NoEffect, Retry: true, Tries: 3} // a temporary fault on the way
		// typical of an overloaded machine
		overload = Rule{Contact: true, Effect: NoEffect, Retry: true, Tries: 3, SlowsIP: true}
		final    = Rule{Contact: true, Effect: NoEffect} // a retry would fail in the same way
		host     = Rule{
			Contact:     true,
			Effect:      Unreachable,
			Retry:       true,
			Tries:       5,
			SiteBackoff: true,
			GiveUpAfter: 5,
			SlowsIP:     true,
		}
		name    = Rule{Effect: Unreachable, Retry: true, Tries: 5, SiteBackoff: true, GiveUpAfter: 5}
		noName  = Rule{Effect: Unreachable, GiveUpAfter: 1}
		refusal = Rule{}
		// a persistent connection was closed: try again after the delay
		stale = Rule{Contact: true, Retry: true, Tries: unlimitedTries}
		// the crawl stopped: the request may have been sent, so the delays run; the URL stays queued
		stopped = Rule{Contact: true, Retry: true, Tries: unlimitedTries}
	)
	return [outcome.Count]Rule{
		outcome.OK:              answer,
		outcome.Redirect:        answer,
		outcome.NotModified:     answer,
		outcome.OtherStatus:     answer,
		outcome.ClientError:     answer,
		outcome.TruncatedLength: answer,
		outcome.NoMemory:        answer,
		outcome.TooMany:         busy, outcome.Wall: wall,
		outcome.Unavailable:         closed,
		outcome.ServerError:         failed,
		outcome.TruncatedTime:       slow,
		outcome.TruncatedDisconnect: failed, outcome.Transient: failed, outcome.Unasked: failed,

		outcome.Reset:          overload,
		outcome.HeaderTimeout:  overload,
		outcome.Protocol:       fault,
		outcome.TLSFault:       fault,
		outcome.ProxyFault:     fault,
		outcome.HeaderTooLarge: final,
		outcome.Stale:          stale,

		outcome.ConnectTimeout: host,
		outcome.Refused:        host,
		outcome.Unreachable:    host,
		outcome.NameFault:      name,
		outcome.NameNotFound:   noName,

		outcome.BlockedAddress: refusal, outcome.BlockedPort: refusal,
		outcome.RobotsDenied: refusal, outcome.RobotsUnreachable: refusal,
		outcome.Filtered: refusal, outcome.Blocked: refusal,
		outcome.QuotaHost: refusal, outcome.QuotaDomain: refusal, outcome.QuotaAddress: refusal,
		outcome.QuotaRequisites:  refusal,
		outcome.HandedOver:       refusal,
		outcome.Recovered:        refusal,
		outcome.Novelty:          refusal,
		outcome.TooManyRedirects: refusal,
		outcome.SiteGone:         refusal, outcome.GivenUp: refusal,
		outcome.Cancelled:  stopped,
		outcome.LocalFault: refusal, // no request was made: the engine returns the URL to its queue
	}
}

// unlimitedTries is more than a URL can have.
const unlimitedTries = 1 << 30

// faults returns what is wrong with the row of o.
func (r Rule) faults(o outcome.Outcome) (faults []error) {
	fault := func(what string) { faults = append(faults, fmt.Errorf("politeness: the row of %v %s", o, what)) }
	if r.Tries < 0 || r.GiveUpAfter < 0 {
		fault("must not have negative Tries or GiveUpAfter")
	}
	if r.Retry != (r.Tries > 1) {
		fault("must have Retry if and only if Tries is at least 2")
	}
	if r.SiteBackoff && r.Effect != Busy && r.Effect != Unreachable {
		fault("has SiteBackoff, but an effect without failure counts")
	}
	if r.GiveUpAfter > 0 && r.Effect != Busy && r.Effect != Unreachable {
		fault("has GiveUpAfter, but an effect without failure counts")
	}
	if r.Effect > Unreachable {
		fault("has an unknown effect")
	}
	return faults
}
