package ending

import (
	"sync"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/throttle"
)

// SeedWarnings warns of seeds that bring no page: at once of the first of each outcome, and later of others with their
// number. The summary at the end comes late. Safe for concurrent use.
type SeedWarnings struct {
	Warn   func(msg string, args ...any)
	Admits func(url []byte) bool // reports whether the target of a redirect belongs to the crawl; nil: all do

	mu      sync.Mutex
	retries [outcome.Count]throttle.Log // seeds that are tried again
	losses  [outcome.Count]throttle.Log // seeds that have their outcome

	remedied [outcome.Count]bool // there was a warning with the remedy
}

// NoteAttempt takes an attempt at a seed, or at the robots.txt of its site. target is that of a redirect.
func (w *SeedWarnings) NoteAttempt(p *fetch.Page, a *attempt.Attempt, target []byte) {
	o := a.Outcome
	switch {
	case a.IsProbe, o == outcome.Stale:
		return
	case a.RobotsFault != robots.NoFault:
		args := []any{"seed", string(a.URL), "cause", "robots.txt: " + a.RobotsFault.Seen(), "status", p.Status}
		w.warn(outcome.RobotsUnreachable, true, args, robotsRemedy)
		return
	case o == outcome.Redirect && !a.IsRobots:
		if len(target) == 0 || w.Admits == nil || w.Admits(target) {
			return
		}
	case o.Class() == outcome.ClassAnswer && (a.IsRobots || o != outcome.ClientError && o != outcome.OtherStatus):
		return
	}
	args := []any{"seed", string(a.URL), "outcome", o.String()}
	switch {
	case p.HeadLen > 0 && o == outcome.Redirect:
		args = append(args, "target", string(target))
	case p.HeadLen > 0:
		args = append(args, "status", p.Status)
	case p.Err != "":
		args = append(args, "cause", p.Err)
	}
	remedy := Remedy(o)
	if IsCertificateRefused(p, o) {
		remedy = certificateRemedy
	}
	w.warn(o, a.WillRetry || a.IsRobots, args, remedy)
}

// NoteRefusal takes a seed that gets its outcome without a request.
func (w *SeedWarnings) NoteRefusal(url []byte, o outcome.Outcome) {
	w.warn(o, false, []any{"seed", string(url), "outcome", o.String()}, Remedy(o))
}

// warn logs one warning, unless there was one of this kind lately.
func (w *SeedWarnings) warn(o outcome.Outcome, isRetried bool, args []any, remedy string) {
	said, msg := &w.losses[o], "a seed is not fetched; crawl.log and 'orbweaver report DIR seeds' name all of them"
	if isRetried {
		said, msg = &w.retries[o], "a seed could not be fetched"
	}
	w.mu.Lock()
	n, ok := said.Allow(time.Now())
	isKnown := w.remedied[o] && !isRetried // an earlier warning has the remedy
	w.remedied[o] = true
	w.mu.Unlock()
	if !ok {
		return
	}
	if n > 1 {
		args = append(args, "seeds", n)
	}
	if remedy != "" && !isKnown {
		args = append(args, "remedy", remedy)
	}
	w.Warn(msg, args...)
}

// robotsRemedy is what to do about a robots.txt that is answered and not known: see docs/robots.md.
const robotsRemedy = "Nothing of a site is fetched until its robots.txt is read whole: its server must be mended. " +
	"For an operator with a mandate, a host rule robots=ignore lifts it"

// certificateRemedy is what to do about a certificate that --tls strict refuses. Waiting does not help.
const certificateRemedy = "Its certificate does not verify: --tls tolerant fetches all the same, " +
	"and the variable SSL_CERT_FILE names a file with an authority of your own"

// IsCertificateRefused reports whether an exchange failed because --tls strict refused the certificate.
func IsCertificateRefused(p *fetch.Page, o outcome.Outcome) bool {
	return o == outcome.TLSFault && p.Connection.TLS.Fault != ""
}

// unreached is a crawl that no server has ever answered, not one of its seeds. Waiting seldom helps: a name is
// misspelt, a server is not started, or this machine has no network.
type unreached struct {
	failingSince time.Time // since then all sites fail; zero if one may answer yet
	nextScan     time.Time // the sites are not scanned before this time
	retried      bool      // all of them were made due for their last try
}

// How long a crawl without any answer tries its sites, before each is tried for the last time.
const (
	unreachedShort = 45 * time.Second // an answer of the system or of a name server: refused, no such name
	unreachedLong  = 4 * time.Minute  // no answer at all. A network that was just started may come
)

// IsUnreached reports whether no server has ever answered this crawl, and each of its sites has had its tries. Then all
// sites with queued URLs can be given up: their URLs are seeds.
func (s *StallDetector) IsUnreached(now time.Time, nothingMoves func() bool) bool {
	u := &s.unreached
	if s.counts.BytesReceived.Load() > 0 {
		s.givesUpAt.Store(0)
		return false
	}
	if now.Before(u.nextScan) {
		return false
	}
	patience := unreachedShort
	may := s.workbench.Listing().Any(func(state *site.State) bool {
		if o := state.FailureStreak().LastOutcome; o != outcome.Refused && o != outcome.NameNotFound {
			patience = unreachedLong
		}
		return mayAnswer(state)
	})
	u.nextScan = now.Add(max(scanPause, scanShare*time.Since(now)))
	switch {
	case may:
		u.failingSince, u.retried = time.Time{}, false
		s.givesUpAt.Store(0)
		return false
	case u.failingSince.IsZero():
		u.failingSince = now
	}
	s.givesUpAt.Store(u.failingSince.Add(patience).UnixNano())
	switch {
	case now.Sub(u.failingSince) < patience:
		return false
	case !u.retried:
		u.retried = true
		s.RetryAll(now)
		return false
	}
	waits := s.workbench.Listing().Any(func(state *site.State) bool { return s.isUntried(state, now) })
	return !waits && nothingMoves() && !s.workbench.Listing().Any(mayAnswer) && s.counts.BytesReceived.Load() == 0
}

// GivesUpAt returns about when a crawl that no server has ever answered gives up its sites; zero if one may answer.
// Safe for concurrent use.
func (s *StallDetector) GivesUpAt() time.Time { return timeOf(&s.givesUpAt) }

// mayAnswer reports whether a site has answered, was not asked yet, asks to slow down, or is behind a proxy that fails.
func mayAnswer(state *site.State) bool {
	o := state.FailureStreak().LastOutcome
	return state.HasAnswered || o == outcome.None || o == outcome.ProxyFault || o.Class() == outcome.ClassBusy
}
