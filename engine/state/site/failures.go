package site

import (
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// FailureStreak returns the current failures of the site; zero if there are none.
func (s *State) FailureStreak() FailureStreak {
	if s.rare == nil {
		return FailureStreak{}
	}
	return s.rare.failures
}

// SetFailureStreak replaces the failures of the site. It allocates nothing if they are the same.
func (s *State) SetFailureStreak(t FailureStreak) {
	if t != s.FailureStreak() {
		s.SetAddrsAndFailures(s.Addrs().list, t)
	}
}

// NoteFailure records a failure of the site at time now. retryAt is the time of Retry-After; zero if there is none.
func (s *State) NoteFailure(o outcome.Outcome, now, retryAt time.Time) {
	s.SetFailureStreak(s.FailureStreak().WithFailure(o, now, retryAt))
}

// NotePageAnswer records an answer to a page request. It ends the failure streak.
func (s *State) NotePageAnswer() {
	s.HasAnswered = true
	s.SetFailureStreak(FailureStreak{})
}

// NoteRobotsAnswer records an answer to a robots.txt request. It shows that the server is up, but not that it serves
// pages: a proxy in front of a failed application may answer. So the failures of pages remain, with a Count of at most
// 1. If the site has failed for longer than long and the root page cannot be a probe, Count becomes 0: the next failure
// then counts against its URL.
func (s *State) NoteRobotsAnswer(now time.Time, long time.Duration) {
	s.HasAnswered = true
	t := s.FailureStreak()
	if t == (FailureStreak{}) || t.LastOutcome.IsOfRate() {
		return
	}
	t.RetryAt, t.NameFailures, t.sinceProbe, t.ServesPages = 0, 0, 0, false
	if t.Count = min(t.Count, 1); t.FailingFor(now) >= long && !t.CanProbeRoot(s.Rules) {
		t.Count = 0
	}
	s.SetFailureStreak(t)
}

// NoteRootAnswer records that a failing site has answered a probe of its root page.
func (s *State) NoteRootAnswer() {
	s.HasAnswered, s.HasServedRoot = true, true
	if t := s.FailureStreak(); t != (FailureStreak{}) {
		t.RetryAt, t.NameFailures, t.Count, t.sinceProbe, t.ServesPages = 0, 0, 0, 0, true
		s.SetFailureStreak(t)
	}
}

// cuts are the last responses that were cut: a hash of URL and length in the upper bits, and how often it came.
type cuts [4]uint32

// constantCut is how many equal cuts show that a response is always cut there.
const constantCut = 3

// NoteCut records a response that ended before it was complete: hash is that of its URL and length. It reports whether
// the URL was cut there constantCut times. Then this is no passing fault, and neither are later cuts of the site, until
// a response is whole.
func (s *State) NoteCut(hash uint32) (isConstant bool) {
	const count = 0xff
	if s.rare == nil {
		s.rare = &rareFacts{}
	}
	rare := *s.rare
	s.rare = &rare
	for i, cut := range rare.cuts {
		if cut&^count == hash&^count && cut != 0 {
			if cut&count < constantCut {
				rare.cuts[i]++
			}
			isConstant = rare.cuts[i]&count == constantCut
			s.CutsBodies = s.CutsBodies || isConstant
			return isConstant
		}
	}
	copy(rare.cuts[1:], rare.cuts[:])
	rare.cuts[0] = hash&^count | 1
	return false
}

// AskRootNext makes the next request to a failing site a probe of its root page.
func (s *State) AskRootNext() {
	t := s.FailureStreak()
	t.sinceProbe = probeNext
	s.SetFailureStreak(t)
}

// NoteProbeFailure records that a probe was not answered.
func (s *State) NoteProbeFailure(p Probe) {
	t := s.FailureStreak()
	t.sinceProbe, t.ServesPages = 0, false
	t.rootUnusable = t.rootUnusable || p == RootProbe && !s.HasServedRoot
	s.SetFailureStreak(t)
}

// NoteWayDown records that the way to the site is closed at time now, so that nothing is known of the site. It counts
// as failing until it answers. It allocates nothing if that is known already.
func NoteWayDown(s *State, now time.Time) {
	t := s.FailureStreak()
	if t.Count >= failingCount && t.LastOutcome == outcome.ProxyFault {
		return
	}
	t = t.WithFailure(outcome.ProxyFault, now, time.Time{})
	t.sinceProbe = 0 // no probe could reach the site
	t.Count = max(t.Count, failingCount)
	s.SetFailureStreak(t)
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
	probeNext        = 5 // failures since the last probe, if the next request must be one
)

// NextProbe returns the probe that a failing site needs next, or NoProbe. items is the number of queued items in the
// Visit. If early is true, the site has failed for a short time, and its URLs are not suspect: an answer of robots.txt
// is enough to reset the waits. Later, only an answer of the root page shows that the site works and the other pages
// are broken. For a 429 robots.txt is no probe: 429 is about the request rate and not about the page.
func (s *State) NextProbe(items int, early bool) Probe {
	t := s.FailureStreak()
	switch {
	case !s.HasAnswered || t.Count == 0 && !t.ServesPages:
		return NoProbe
	case t.sinceProbe == probeNext && t.CanProbeRoot(s.Rules):
		return RootProbe
	case t.LastOutcome.Class() != outcome.ClassFault && t.LastOutcome.Class() != outcome.ClassBusy:
		return NoProbe
	case t.sinceProbe < probePeriod-1 && (t.sinceProbe < probePeriodAlone || t.ServesPages || items > 1):
		return NoProbe
	case !early && t.CanProbeRoot(s.Rules):
		return RootProbe
	case t.LastOutcome.IsOfRate():
		return NoProbe
	}
	return RobotsProbe
}

// IsFailing reports whether the last attempts failed or the site asked to slow down.
func (s *State) IsFailing() bool {
	t := s.FailureStreak()
	return s.DenyAll || t.NameFailures > 0 || !t.ServesPages && (s.Failures != 0 || t.Count >= failingCount)
}

// IsTroubled reports whether the last attempt failed: the site may be on its way to IsFailing.
func IsTroubled(s *State) bool {
	t := s.FailureStreak()
	return s.DenyAll || t.NameFailures > 0 || t.Count > 0 && !t.ServesPages || s.Failures != 0
}

// IsHealthy is the opposite of IsFailing.
func (s *State) IsHealthy() bool { return !s.IsFailing() }

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
