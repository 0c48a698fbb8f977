package site

import (
	"math"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
)

// When robots.txt is fetched.
const (
	RobotsLifetime      = 24 * time.Hour   // a copy of robots.txt is valid for this long (RFC 9309, section 2.4)
	robotsRefreshBefore = 2 * time.Hour    // the first refresh starts this long before the copy expires
	robotsRefreshEvery  = 30 * time.Minute // time between two refreshes while the server does not answer

	RobotsQuickTries = 3               // attempts that use the short delays of politeness.Policy
	RobotsTriesMax   = 7               // attempts (half an hour) before a site that has never answered is given up
	robotsSlowWait   = 2 * time.Minute // wait after the quick attempts; doubles with each attempt
)

// RobotsRedirect is a redirect of a robots.txt to another site. The target is fetched on behalf of the origin site.
type RobotsRedirect struct {
	Site   []byte // site key of the redirect target
	Origin []byte // key of the site that the rules are for
	Item   []byte // the queued item to fetch on the target site
}

// RobotsResult is the result of a robots.txt fetch on behalf of another site, which is parked until it has the result.
type RobotsResult struct {
	Site        []byte
	Rules       *robots.Rules // nil if robots.txt is unreachable
	Unreachable bool
	Fault       robots.Fault  // why they are not known. Another agent does not say it
	Age         time.Duration // age of the rules, if another agent fetched them
	Wait        time.Duration // the target is not asked before. Another agent does not say it
	IsKnown     bool          // nothing was asked, since the target has failed before: no try. The same
}

// RobotsAnswer is the answer of a URL to which the robots.txt of other sites redirects.
type RobotsAnswer struct {
	URL         []byte
	Item        []byte        // the queued item of the URL
	Rules       *robots.Rules // nil after a redirect or a failure
	RedirectsTo []byte        // nil unless the URL redirects
	Failed      bool
	Fault       robots.Fault  // of a failure
	Age         time.Duration // of the rules
}

// Apply stores the result in the state of the parked site.
func (v *RobotsResult) Apply(s *State, now time.Time) {
	t := s.FailureStreak()
	t.RobotsFault = v.Fault
	s.SetFailureStreak(t)
	switch {
	case v.Unreachable && v.IsKnown:
		s.DenyAll = s.Rules == nil
		return
	case v.Unreachable:
		s.NoteRobotsFailure(now)
		return
	}
	s.SetRules(v.Rules, now.Add(RobotsLifetime-v.Age))
	s.RobotsTries, s.DenyAll = 0, false
}

// RobotsRetryWait returns how long a site without rules waits after this many failed attempts at robots.txt. It returns
// 0 for the first RobotsQuickTries attempts: the delays of politeness.Policy apply to them.
func RobotsRetryWait(tries int8) time.Duration {
	if tries < RobotsQuickTries {
		return 0
	}
	return robotsSlowWait << (min(tries, RobotsTriesMax) - RobotsQuickTries)
}

// RobotsTriesOf returns after how many failed attempts at robots.txt a site is given up that has never answered.
func RobotsTriesOf(p *politeness.Policy) int {
	if p.Tries > 0 {
		return min(p.Tries, RobotsTriesMax)
	}
	return RobotsTriesMax
}

// SetRules stores rules that expire at until. The rules may be shared and must not change.
func (s *State) SetRules(rules *robots.Rules, until time.Time) {
	s.Rules = rules
	s.RulesUntil = uint32(min(max(until.Unix(), 0), math.MaxUint32))
}

// RulesFetchedAt returns when the rules of a site were fetched.
func RulesFetchedAt(s *State) time.Time {
	return time.Unix(int64(s.RulesUntil), 0).Add(-RobotsLifetime)
}

// NeedsRobots reports whether robots.txt must be fetched before anything else. That is so if there are no valid rules,
// or if they expire within robotsRefreshBefore and the next refresh is due.
func (s *State) NeedsRobots(now time.Time) bool {
	s.dropExpiredRules(now)
	return s.Rules == nil ||
		now.Add(robotsRefreshBefore-time.Duration(s.RobotsTries)*robotsRefreshEvery).Unix() >= int64(s.RulesUntil)
}

// AskRobotsAgain makes the next request of the site one for its robots.txt. Its rules stay in force meanwhile.
func AskRobotsAgain(s *State, now time.Time) {
	if s.Rules != nil && !s.NeedsRobots(now) {
		s.SetRules(s.Rules, now.Add(robotsRefreshBefore-time.Duration(s.RobotsTries)*robotsRefreshEvery))
	}
}

// dropExpiredRules removes expired rules and resets RobotsTries with them. It also removes rules that would be valid
// for longer than RobotsLifetime: the clock was set back after the fetch, so their age is unknown.
func (s *State) dropExpiredRules(now time.Time) {
	if s.Rules == nil ||
		now.Unix() < int64(s.RulesUntil) && int64(s.RulesUntil) <= now.Add(RobotsLifetime+time.Minute).Unix() {
		return
	}
	s.Rules, s.RobotsTries = nil, 0
}

// CrawlDelay returns the Crawl-delay of robots.txt, without an upper limit; 0 if there is none.
func (s *State) CrawlDelay() time.Duration {
	if s.Rules == nil {
		return 0
	}
	d, _ := s.Rules.CrawlDelay()
	return d
}

// NoteRobotsFailure records a failed attempt at robots.txt. Existing rules stay in use until they expire. Without valid
// rules, every URL is disallowed (RFC 9309, section 2.3.1.4).
func (s *State) NoteRobotsFailure(now time.Time) {
	if s.RobotsTries < 127 {
		s.RobotsTries++
	}
	s.dropExpiredRules(now)
	s.DenyAll = s.Rules == nil
}
