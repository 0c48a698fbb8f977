package ending

import (
	"time"

	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
)

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
