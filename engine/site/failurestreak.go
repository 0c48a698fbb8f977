package site

import (
	"encoding/binary"
	"math"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
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
	ServesPages  bool            // the last probe showed that the site serves pages: later failures belong to their URLs
	rootUnusable bool            // the root page cannot be a probe: it was never served and failed, or a filter refuses it
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

// FailureStreak returns the current failures of the site; zero if there are none.
func (s *State) FailureStreak() FailureStreak {
	if s.rare == nil {
		return FailureStreak{}
	}
	return s.rare.failures
}

// NoteFailure records a failure of the site at time now. retryAt is the time of Retry-After; zero if there is none.
func (s *State) NoteFailure(o outcome.Outcome, now, retryAt time.Time) {
	t := s.FailureStreak()
	at := UnixSeconds(now)
	switch {
	case t.FirstAt == 0 || at < t.lastAt: // or the clock was set back
		t.FirstAt = at
	case at-t.lastAt > failureGapMax:
		t.FirstAt += at - t.lastAt
	}
	if t.LastOutcome.Class() == outcome.ClassHost &&
		o.Class() != outcome.ClassHost { // the server can be reached again: the waits begin at the shortest
		t.Count = 0
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
	s.SetAddrsAndFailures(s.Addrs(), t)
}

// NoteNameFailure records that the name could not be resolved. It returns the number of consecutive failures of the
// name.
func (s *State) NoteNameFailure(o outcome.Outcome, now time.Time) int {
	s.NoteFailure(o, now, time.Time{})
	t := s.FailureStreak()
	t.NameFailures = min(t.NameFailures+1, math.MaxUint8-1)
	s.SetAddrsAndFailures(s.Addrs(), t)
	return int(t.NameFailures)
}

// NoteNameServersDown records that no name server answers. This does not count as a failure of the site.
func (s *State) NoteNameServersDown() {
	t := s.FailureStreak()
	t.NameFailures, t.LastOutcome = max(t.NameFailures, 1), outcome.NameFault
	s.SetAddrsAndFailures(s.Addrs(), t)
}

// NoteNameFound ends the failures of the name. Failures of the server remain until the server answers.
func (s *State) NoteNameFound() {
	if t := s.FailureStreak(); t.NameFailures > 0 {
		if t.NameFailures = 0; t.FirstAt == 0 {
			t.LastOutcome = outcome.None
		}
		s.SetAddrsAndFailures(s.Addrs(), t)
	}
}

// NotePageAnswer records an answer to a page request. It ends the failure streak.
func (s *State) NotePageAnswer() {
	s.HasAnswered = true
	if s.FailureStreak() != (FailureStreak{}) { // avoids an allocation for sites with several addresses
		s.SetAddrsAndFailures(s.Addrs(), FailureStreak{})
	}
}

// NoteRobotsAnswer records an answer to a robots.txt request. It shows that the server is up, but not that it serves
// pages: a proxy in front of a failed application may answer. So the failures of pages remain, with a Count of at most
// 1. If the site has failed for longer than long and the root page cannot be a probe, Count becomes 0: the next failure
// then counts against its URL.
func (s *State) NoteRobotsAnswer(now time.Time, long time.Duration) {
	s.HasAnswered = true
	t := s.FailureStreak()
	if t == (FailureStreak{}) || t.LastOutcome == outcome.TooMany {
		return
	}
	t.RetryAt, t.NameFailures, t.sinceProbe, t.ServesPages = 0, 0, 0, false
	if t.Count = min(t.Count, 1); s.FailingFor(now) >= long && !s.canProbeRoot(t) {
		t.Count = 0
	}
	s.SetAddrsAndFailures(s.Addrs(), t)
}

// NoteRootAnswer records that a failing site has answered a probe of its root page.
func (s *State) NoteRootAnswer() {
	s.HasAnswered, s.HasServedRoot = true, true
	if t := s.FailureStreak(); t != (FailureStreak{}) {
		t.RetryAt, t.NameFailures, t.Count, t.sinceProbe, t.ServesPages = 0, 0, 0, 0, true
		s.SetAddrsAndFailures(s.Addrs(), t)
	}
}

// NoteProbeFailure records that a probe was not answered.
func (s *State) NoteProbeFailure(p Probe) {
	t := s.FailureStreak()
	t.sinceProbe, t.ServesPages = 0, false
	t.rootUnusable = t.rootUnusable || p == RootProbe && !s.HasServedRoot
	s.SetAddrsAndFailures(s.Addrs(), t)
}

// NoteRootFiltered records that a filter refuses the root page, so that it cannot be a probe in this streak.
func (s *State) NoteRootFiltered() {
	t := s.FailureStreak()
	t.rootUnusable = true
	s.SetAddrsAndFailures(s.Addrs(), t)
}

// Probe is the request that shows whether a failing site serves pages again.
type Probe uint8

// The probes.
const (
	NoProbe     Probe = iota // none
	RobotsProbe              // fetch robots.txt
	RootProbe                // fetch the root page
)

const (
	probePeriod      = 4 // every fourth request to a failing site is a probe
	probePeriodAlone = 2 // every second one, if the site has a single queued URL
)

// NextProbe returns the probe that a failing site needs next, or NoProbe. items is the number of queued items in the
// Visit. If early is true, the site has failed for a short time only: an answer of robots.txt is enough to reset the
// waits. Later, only an answer of the root page shows that the site works and the other pages are broken. For a 429
// robots.txt is no probe: 429 is about the request rate and not about the page.
func (s *State) NextProbe(items int, early bool) Probe {
	t := s.FailureStreak()
	switch {
	case !s.HasAnswered || t.Count == 0 && !t.ServesPages:
		return NoProbe
	case t.LastOutcome.Class() != outcome.ClassFault && t.LastOutcome.Class() != outcome.ClassBusy ||
		t.LastOutcome == outcome.ProxyFault:
		return NoProbe
	case t.sinceProbe < probePeriod-1 && (t.sinceProbe < probePeriodAlone || t.ServesPages || items > 1):
		return NoProbe
	case !early && s.canProbeRoot(t):
		return RootProbe
	case t.LastOutcome == outcome.TooMany:
		return NoProbe
	}
	return RobotsProbe
}

// canProbeRoot reports whether the root page can be a probe. robots.txt must allow it, and no probe of it may have
// failed unless it was served before.
func (s *State) canProbeRoot(t FailureStreak) bool {
	return s.Rules != nil && s.Rules.Allowed([]byte{'/'}) && !t.rootUnusable
}

// IsFailing reports whether the last attempts failed or the site asked to slow down.
func (s *State) IsFailing() bool {
	t := s.FailureStreak()
	return s.DenyAll || t.NameFailures > 0 || !t.ServesPages && (s.Failures != 0 || t.Count >= failingCount)
}

// IsHealthy is the opposite of IsFailing.
func (s *State) IsHealthy() bool { return !s.IsFailing() }

// FailingFor returns how long the site has failed without an answer, in whole seconds.
func (s *State) FailingFor(now time.Time) time.Duration {
	t := s.FailureStreak()
	if at := UnixSeconds(now); t.FirstAt > 0 && at > t.FirstAt {
		return time.Duration(at-t.FirstAt) * time.Second
	}
	return 0
}

// NamedRetryWithin reports whether the site named a time for the next request (Retry-After) that is at most wait after
// its first failure. So a site that names later and later times is not waited for without end.
func (s *State) NamedRetryWithin(wait time.Duration) bool {
	t := s.FailureStreak()
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

// append appends the encoded form to dst.
func (t FailureStreak) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(t.NameFailures))
	for _, n := range [...]uint32{t.FirstAt, t.lastAt, t.RetryAt, uint32(t.Count)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return append(dst, byte(t.LastOutcome))
}

// failureStreak reads what append wrote. Versions before siteVersion contain only NameFailures.
func (r *decoder) failureStreak(version byte) (t FailureStreak) {
	t.NameFailures = uint8(min(max(r.varint(), 0), math.MaxUint8-1))
	if version < siteVersion {
		return t
	}
	for _, n := range [...]*uint32{&t.FirstAt, &t.lastAt, &t.RetryAt} {
		*n = uint32(r.uvarint(math.MaxUint32))
	}
	t.Count = uint16(r.uvarint(failureCountMax))
	if t.LastOutcome = outcome.Outcome(r.byte()); int(t.LastOutcome) >= outcome.Count {
		r.invalid = true
	}
	return t
}

// probeWaitMax is the longest ProbeWait. A deploy or a reboot, during which a server in front answers robots.txt from
// its disk, takes less. It is shorter than the default of --stall-wait, so a crawl whose last URLs are broken finishes.
const probeWaitMax = 30 * time.Minute

// ProbeWait returns how long pages must fail before a probe shows that the URLs are broken and not the site. stallWait
// is the wait after which the crawl stalls.
func ProbeWait(stallWait time.Duration) time.Duration { return min(probeWaitMax, max(stallWait, 0)/2) }

// IsRoot reports whether a URL in normal form is the root page of its site.
func IsRoot(url []byte) bool {
	_, path := urlx.Split(url)
	return len(path) == 1
}
