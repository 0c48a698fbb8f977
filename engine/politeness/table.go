package politeness

import (
	"fmt"

	"orbweaver/engine/outcome"
)

// Effect is what an outcome says about the site as a whole.
type Effect uint8

// The effects.
const (
	NoEffect    Effect = iota // nothing: the failures in a row stay as they are
	Forgives                  // it answers: no failures in a row any more
	Busy                      // it asks to slow down: one more of these in a row
	Unreachable               // it cannot be reached: one more of these in a row
)

// Rule is a row of the table: what follows from one outcome.
type Rule struct {
	// Contact says that somebody's server was asked: the delays of site and IP run from the end.
	Contact bool
	// Retry says that the URL is worth another try, Tries how many it gets in all.
	Retry bool
	Tries int
	// SiteBackoff makes the whole site wait, by its failures in a row: as it asks (Busy), or by HostBackoff. Without it,
	// a retry waits by RetryDelays.
	SiteBackoff bool
	// KillAfter failures in a row of this row's effect give the site up; 0 never.
	KillAfter int
	Effect    Effect
	// StrainOnce says that what asks to slow down may be the page, and not only the site: of each URL, and of failures in a row, one counts for the strain.
	StrainOnce bool
	// StrainsIP says that the trouble may be the machine's and not only the site's: see IPStrain.
	StrainsIP bool
}

// good says that the answer is one that nobody need ask for again.
func (r *Rule) good() bool { return r.Effect == Forgives && !r.Retry }

// defaultTable has a row for every outcome. A row that is not here is all zero: no one was asked, nothing follows.
//
//nolint:exhaustive // None has no row: it is not what becomes of an attempt
func defaultTable() [outcome.Count]Rule {
	var (
		answer  = Rule{Contact: true, Effect: Forgives}
		busy    = Rule{Contact: true, Effect: Busy, Retry: true, Tries: 5, SiteBackoff: true, StrainsIP: true}
		closed  = Rule{Contact: true, Effect: Busy, Retry: true, Tries: 3, SiteBackoff: true, StrainOnce: true, StrainsIP: true}
		failed  = Rule{Contact: true, Effect: Forgives, Retry: true, Tries: 3} // it answered, badly
		slow    = Rule{Contact: true, Effect: Forgives, Retry: true, Tries: 3, StrainsIP: true}
		fault   = Rule{Contact: true, Effect: NoEffect, Retry: true, Tries: 3}                  // something passing on the way
		laden   = Rule{Contact: true, Effect: NoEffect, Retry: true, Tries: 3, StrainsIP: true} // as of a machine with too much to do
		final   = Rule{Contact: true, Effect: NoEffect}                                         // as bad the next time
		host    = Rule{Contact: true, Effect: Unreachable, Retry: true, Tries: 5, SiteBackoff: true, KillAfter: 5, StrainsIP: true}
		name    = Rule{Effect: Unreachable, Retry: true, Tries: 5, SiteBackoff: true, KillAfter: 5}
		noName  = Rule{Effect: Unreachable, KillAfter: 1}
		refusal = Rule{}
		// A kept connection that was none any more: another one, after the delay and no more.
		stale = Rule{Contact: true, Retry: true, Tries: anyTries}
		// A stop in the middle: the request may have been sent, so the delays run; the URL stays to be fetched.
		stopped = Rule{Contact: true, Retry: true, Tries: anyTries}
	)
	return [outcome.Count]Rule{
		outcome.OK:            answer,
		outcome.Redirect:      answer,
		outcome.NotModified:   answer,
		outcome.OtherStatus:   answer,
		outcome.ClientError:   answer,
		outcome.CutLength:     answer,
		outcome.NoMemory:      answer,
		outcome.TooMany:       busy,
		outcome.Unavailable:   closed,
		outcome.ServerError:   failed,
		outcome.CutTime:       slow,
		outcome.CutDisconnect: failed,

		outcome.Reset:          laden,
		outcome.HeaderTimeout:  laden,
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

		outcome.BlockedAddress:    refusal,
		outcome.BlockedPort:       refusal,
		outcome.RobotsDenied:      refusal,
		outcome.RobotsUnreachable: refusal,
		outcome.Filtered:          refusal,
		outcome.Blocked:           refusal,
		outcome.QuotaHost:         refusal,
		outcome.QuotaDomain:       refusal,
		outcome.QuotaAddress:      refusal,
		outcome.HandedOver:        refusal,
		outcome.Recovered:         refusal,
		outcome.Novelty:           refusal,
		outcome.TooManyRedirects:  refusal,
		outcome.SiteGone:          refusal,
		outcome.GivenUp:           refusal,
		outcome.Cancelled:         stopped,
		outcome.LocalFault:        refusal, // nobody was asked: the engine puts the URL back
	}
}

// anyTries is more than a URL can have.
const anyTries = 1 << 30

// faults says what is wrong with the row of o.
func (r Rule) faults(o outcome.Outcome) (faults []error) {
	fault := func(what string) { faults = append(faults, fmt.Errorf("politeness: the row of %v %s", o, what)) }
	if r.Tries < 0 || r.KillAfter < 0 {
		fault("counts below zero")
	}
	if r.Retry != (r.Tries > 1) {
		fault("must have Retry if and only if Tries is at least 2")
	}
	if r.SiteBackoff && r.Effect != Busy && r.Effect != Unreachable {
		fault("makes the site back off without counting its failures")
	}
	if r.KillAfter > 0 && r.Effect != Busy && r.Effect != Unreachable {
		fault("gives the site up without counting its failures")
	}
	if r.Effect > Unreachable {
		fault("has an unknown effect")
	}
	return faults
}
