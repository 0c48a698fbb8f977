package ending

import (
	"sync"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/attempt"
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
