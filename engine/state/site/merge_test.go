package site_test

import (
	"math"
	"testing"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/site"
)

// Of what two agents know the stricter holds, whichever comes first and however often.
func TestOfASiteTheStricterHolds(t *testing.T) {
	now := time.Now()
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /\n"), robots.Token)
	other := robots.AllowAll()
	known := site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}
	for what, c := range map[string]struct {
		own  site.State
		left time.Duration // of its own rules
		life time.Duration // of those that come
		want site.State
	}{
		"of a new site all": {site.State{}, 0, time.Hour,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"rules that are over are none": {site.State{RobotsTries: 5}, 0, -time.Second,
			site.State{Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 5}},
		"younger rules stay": {site.State{Rules: other}, 2 * time.Hour, time.Hour,
			site.State{Rules: other, Failures: -4, Slowdown: 3, Stored: 9}},
		"older rules go": {site.State{Rules: other}, time.Hour, 2 * time.Hour,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"more trouble and quotas stay": {site.State{Failures: 5, Slowdown: 12, Stored: 30}, 0, time.Hour,
			site.State{Rules: rules, Failures: 5, Slowdown: 12, Stored: 30, RobotsTries: 1}},
		"no copy is older than a day": {site.State{}, 0, math.MaxInt64,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"what is blocked here stays so": {site.State{Blocked: true}, 0, time.Hour,
			site.State{Blocked: true, Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
		"what was denied is allowed now": {site.State{DenyAll: true}, 0, time.Hour,
			site.State{Rules: rules, Failures: -4, Slowdown: 3, Stored: 9, RobotsTries: 1}},
	} {
		s := c.own
		if s.Rules != nil {
			s.SetRules(s.Rules, now.Add(c.left))
		}
		for range 2 {
			s.Merge(&known, c.life, now)
		}
		if s.Rules != nil && int64(s.RulesUntil) > now.Add(site.RobotsLifetime).Unix() {
			t.Errorf("%s: rules for longer than a day", what)
		}
		s.RulesUntil = 0
		if s != c.want {
			t.Errorf("%s: %+v, want %+v", what, s, c.want)
		}
	}
}
