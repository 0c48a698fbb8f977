package site

import (
	"encoding/binary"
	"math"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/internal/outcome"
)

// FailureStreak describes the consecutive failures of a site: see docs/adr/0032-a-passing-fault-never-costs-a-queue.md.
// A site that has answered before keeps its queue while it fails. The zero value means that the site does not fail.
// Times are in Unix seconds.
type FailureStreak struct {
	FirstAt uint32 // first failure of the streak; moved forward by each gap longer than failureGapMax
	lastAt  uint32 // last failure
	RetryAt uint32 // when the site wants the next request (Retry-After); 0 if the last failure named no time
	// failures since the last answer, of page and robots.txt requests; at most failureCountMax
	Count        uint16
	sinceProbe   uint8           // failures since the last probe, at most probePeriod; see NextProbe
	NameFailures uint8           // failures of name resolution in the streak
	LastOutcome  outcome.Outcome // outcome of the last failure
	// ServesPages: the last probe showed that the site serves pages, so later failures belong to their URLs.
	ServesPages bool
	// rootUnusable: the root page cannot be a probe. It was never served and failed, or a filter refuses it.
	rootUnusable bool
	RobotsFault  robots.Fault // why robots.txt is not known, if a server answered
}

const (
	// failureGapMax is the longest time between two failures, in seconds, that counts as failing time. It is longer
	// than the longest accepted Retry-After. In a longer gap the site was not asked: the crawl did not run, or had no
	// URL queued for the site.
	failureGapMax = 36 * 60 * 60
	// failingCount is the number of consecutive failures from which the site counts as failing, if each of them could
	// be the fault of its URL.
	failingCount    = 3
	failureCountMax = 1 << 12 // largest FailureStreak.Count
)

// WithFailure returns the streak after a failure at time now. retryAt is the time of Retry-After; zero if there is
// none.
func (t FailureStreak) WithFailure(o outcome.Outcome, now, retryAt time.Time) FailureStreak {
	at := UnixSeconds(now)
	switch {
	case t.FirstAt == 0 || at < t.lastAt: // or the clock was set back
		t.FirstAt = at
	case at-t.lastAt > failureGapMax:
		t.FirstAt += at - t.lastAt
	}
	if isUnreached(t.LastOutcome) && !isUnreached(o) { // the server can be reached again: the waits begin at the shortest
		t.Count, t.sinceProbe = 0, 0
	}
	t.lastAt, t.LastOutcome = at, o
	if !retryAt.IsZero() {
		t.RetryAt = UnixSeconds(retryAt.Add(time.Second - 1)) // rounded up, so that no request comes too early
	} else if t.RetryAt <= at { // otherwise keep it: this failure happened without a request to the site
		t.RetryAt = 0
	}
	t.sinceProbe = min(t.sinceProbe+1, probePeriod)
	if !t.ServesPages || t.Count == 0 {
		t.Count = min(t.Count+1, failureCountMax)
	}
	return t
}

// isUnreached reports whether a failure is that of the way to the server.
func isUnreached(o outcome.Outcome) bool {
	return o.Class() == outcome.ClassHost || o == outcome.ProxyFault
}

// WithNameFailure returns the streak after the name could not be resolved.
func (t FailureStreak) WithNameFailure(o outcome.Outcome, now time.Time) FailureStreak {
	t = t.WithFailure(o, now, time.Time{})
	t.NameFailures = min(t.NameFailures+1, math.MaxUint8-1)
	return t
}

// WithNameServersDown returns the streak when no name server answers. This does not count as a failure of the site.
func (t FailureStreak) WithNameServersDown() FailureStreak {
	t.NameFailures, t.LastOutcome = max(t.NameFailures, 1), outcome.NameFault
	return t
}

// WithNameFound returns the streak after the name was resolved. Failures of the server remain until the server answers.
func (t FailureStreak) WithNameFound() FailureStreak {
	if t.NameFailures > 0 {
		if t.NameFailures = 0; t.FirstAt == 0 {
			t.LastOutcome = outcome.None
		}
	}
	return t
}

// WithRootFiltered returns the streak of a site whose root page a filter refuses, so that it cannot be a probe.
func (t FailureStreak) WithRootFiltered() FailureStreak {
	t.rootUnusable = true
	return t
}

// CanProbeRoot reports whether the root page can be a probe. robots.txt must allow it, and no probe of it may have
// failed unless it was served before.
func (t FailureStreak) CanProbeRoot(rules *robots.Rules) bool {
	return rules != nil && rules.Allowed([]byte{'/'}) && !t.rootUnusable
}

// FailingFor returns how long the site has failed without an answer, in whole seconds.
func (t FailureStreak) FailingFor(now time.Time) time.Duration {
	if at := UnixSeconds(now); t.FirstAt > 0 && at > t.FirstAt {
		return time.Duration(at-t.FirstAt) * time.Second
	}
	return 0
}

// HasFailedAfter reports whether the last failure was in a later second than t.
func (t FailureStreak) HasFailedAfter(at time.Time) bool { return t.lastAt > UnixSeconds(at) }

// NamedRetryWithin reports whether the site named a time for the next request (Retry-After) that is at most wait after
// its first failure. So a site that names later and later times is not waited for without end.
func (t FailureStreak) NamedRetryWithin(wait time.Duration) bool {
	return t.RetryAt > 0 && time.Duration(t.RetryAt)*time.Second <= time.Duration(t.FirstAt)*time.Second+wait
}

// ToAges converts the times for another agent, whose clock may differ. FirstAt and lastAt become ages in seconds plus
// 1, RetryAt becomes the remaining wait in seconds. Facts that are valid only here are cleared.
func (t FailureStreak) ToAges(now time.Time) FailureStreak {
	at := max(UnixSeconds(now), t.lastAt)
	if t.FirstAt > 0 {
		t.FirstAt, t.lastAt = at-t.FirstAt+1, at-t.lastAt+1
	}
	t.RetryAt -= min(t.RetryAt, at)
	t.NameFailures, t.sinceProbe, t.ServesPages, t.rootUnusable = 0, 0, false, false
	return t
}

// FromAges converts the result of ToAges back to times; later is the time since that call. The remaining wait counts
// from now, so it may become longer and never shorter.
func (t FailureStreak) FromAges(now time.Time, later time.Duration) FailureStreak {
	if t.FirstAt > 0 {
		at := UnixSeconds(now.Add(-max(later, 0))) + 1
		t.FirstAt, t.lastAt = at-min(t.FirstAt, at-1), at-min(t.lastAt, at-1)
	}
	if t.RetryAt > 0 {
		t.RetryAt = uint32(min(uint64(UnixSeconds(now))+uint64(t.RetryAt), math.MaxUint32))
	}
	t.NameFailures = 0
	return t
}

// flagRootUnusable is rootUnusable in the last byte of the encoded form. The other bits are sinceProbe.
const flagRootUnusable = 1 << 7

// append appends the encoded form to dst. ServesPages is not in it: after a resume a failure of the site may be an
// outage again.
func (t FailureStreak) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(t.NameFailures))
	for _, n := range [...]uint32{t.FirstAt, t.lastAt, t.RetryAt, uint32(t.Count)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	probes := t.sinceProbe
	if t.rootUnusable {
		probes |= flagRootUnusable
	}
	return append(dst, byte(t.LastOutcome), probes, byte(t.RobotsFault))
}

// failureStreak reads what append wrote. Versions before siteVersion4 contain only NameFailures.
func (r *decoder) failureStreak(version byte) (t FailureStreak) {
	t.NameFailures = uint8(min(max(r.varint(), 0), math.MaxUint8-1))
	if version < siteVersion4 {
		return t
	}
	for _, n := range [...]*uint32{&t.FirstAt, &t.lastAt, &t.RetryAt} {
		*n = uint32(r.uvarint(math.MaxUint32))
	}
	t.Count = uint16(r.uvarint(failureCountMax))
	if t.LastOutcome = outcome.Outcome(r.byte()); int(t.LastOutcome) >= outcome.Count {
		r.invalid = true
	}
	if version > siteVersion5 {
		probes := r.byte()
		t.rootUnusable, t.sinceProbe = probes&flagRootUnusable != 0, min(probes&^flagRootUnusable, probePeriod)
	}
	if version > siteVersion7 {
		t.RobotsFault = robots.Fault(r.byte())
	}
	return t
}
