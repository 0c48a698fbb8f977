package site

import (
	"time"

	"orbweaver/engine/robots"
)

// When robots.txt is fetched.
const (
	RobotsLifetime      = 24 * time.Hour   // a copy of robots.txt is valid for this long (RFC 9309, section 2.4)
	robotsRefreshBefore = 2 * time.Hour    // the first refresh starts this long before the copy expires
	robotsRefreshEvery  = 30 * time.Minute // time between two refreshes while the server does not answer

	RobotsQuickTries   = 3               // attempts that use the short delays of politeness.Policy
	RobotsTriesMax     = 7               // attempts (half an hour) before a site that has never answered is given up
	RobotsRedirectsMax = 5               // redirects of a robots.txt that are followed (RFC 9309, section 2.3.1.2)
	robotsSlowWait     = 2 * time.Minute // wait after the quick attempts; doubles with each attempt
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
	Age         time.Duration // age of the rules, if another agent fetched them
}

// Apply stores the result in the state of the parked site.
func (v *RobotsResult) Apply(s *State, now time.Time) {
	if v.Unreachable {
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
