package site

import (
	"net/netip"
	"reflect"
	"runtime"
	"testing"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/internal/outcome"
)

func TestASiteComesBackFromItsForm(t *testing.T) {
	now := time.Unix(1e9, 5)
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /a\n"), "orbweaver")
	var many State
	many.SetAddrs([]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")},
		netip.MustParseAddr("10.0.0.1"), now)
	many.SetRules(rules, now.Add(time.Hour))
	for _, s := range []State{
		{}, many, New(rules, now, now),
		{Stored: 7, Failures: -3, Slowdown: 200, RobotsTries: -1, HasAnswered: true, DenyAll: true, Blocked: true,
			DeadOutcome: outcome.NameNotFound, Errors: 300, KiB: 1 << 31},
		{rare: &rareFacts{failures: FailureStreak{FirstAt: 1e9, lastAt: 1e9 + 9, RetryAt: 2e9, Count: 300,
			NameFailures: 7, LastOutcome: outcome.Refused, sinceProbe: 2, rootUnusable: true, RobotsFault: robots.FaultCut}}},
	} {
		form := Append(nil, &s)
		got, err := NewDecoder()(form)
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v\ncame back as %+v, %v", s, got, err)
		}
		for n := range form {
			if _, err := NewDecoder()(form[:n]); err == nil && n < len(form) {
				t.Errorf("%d bytes of %d were decoded", n, len(form))
			}
		}
	}
}

// Older versions have no HasAnswered flag: a site with stored pages must decode as one that has answered.
func TestASiteOfAnEarlierFormIsRead(t *testing.T) {
	s := State{Stored: 7, Failures: -3, Blocked: true, rare: &rareFacts{failures: FailureStreak{NameFailures: 2}}}
	form := Append(nil, &s)
	form = append(form[:12:12], form[14:]...)       // without the probes and the fault of robots.txt
	uncounted := append(form[:13:13], form[17:]...) // without Errors, KiB and requisites
	// 4 bytes of header and 3 one-byte numbers; skips the failure streak, except NameFailures
	troubled := append(uncounted[:7:7], uncounted[12:]...)
	troubled[0] = siteVersion3
	unstrained := append(troubled[:7:7], troubled[8:]...)
	unstrained[0] = siteVersion2
	s.HasAnswered = true
	for _, form := range [][]byte{troubled, unstrained} {
		if got, err := NewDecoder()(form); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// A name is resolved again only after its addresses have expired. RotateAddrs does not change copies of a State.
func TestAddressesOfASite(t *testing.T) {
	now := time.Unix(1e9, 5)
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	var s State
	if s.Addrs().Expired(now) || s.Addrs().Count() != 1 {
		t.Error("addresses of a new site:", s)
	}
	s.SetAddrs([]netip.Addr{a, b}, a, now)
	copied := s
	if s.Addrs().Expired(now) || !s.Addrs().Expired(now.Add(1)) || s.Addrs().Count() != 2 || s.RotateAddrs() != b ||
		s.RotateAddrs() != a {
		t.Error(s)
	}
	if copied.RotateAddrs() != b {
		t.Error("RotateAddrs changed a copy")
	}
	s.SetAddrs([]netip.Addr{a}, a, time.Time{})
	if s.Addrs().Count() != 1 || s.Addrs().Expired(now.Add(1e18)) {
		t.Error(s)
	}
}

func TestRulesAreAskedForAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	var s State
	if !s.NeedsRobots(now) {
		t.Error("a new site needs robots.txt")
	}
	s.SetRules(robots.AllowAll(), now.Add(RobotsLifetime))
	if s.NeedsRobots(now.Add(RobotsLifetime-robotsRefreshBefore-time.Second)) ||
		!s.NeedsRobots(now.Add(RobotsLifetime-robotsRefreshBefore)) ||
		s.Rules == nil {
		t.Error("22 hours")
	}
	if s.NeedsRobots(now.Add(RobotsLifetime)); s.Rules != nil {
		t.Error("rules are still valid after 24 hours")
	}
	s.SetRules(robots.AllowAll(), now.Add(RobotsLifetime))
	if s.NeedsRobots(now.Add(-time.Hour)); s.Rules != nil {
		t.Error("rules that expire in more than 24 hours are valid")
	}
}

// While the server does not answer, the old rules stay in use until they expire, and robots.txt is tried again at
// intervals. After that every URL is disallowed, and the attempts are counted from 0.
func TestHostile_B01_aCopyServesOnToItsEndAndNoLonger(t *testing.T) {
	now := time.Unix(1e9, 0)
	var s State
	s.SetRules(robots.AllowAll(), now.Add(RobotsLifetime))
	tries := 0
	for age := RobotsLifetime - robotsRefreshBefore; age < RobotsLifetime; age += time.Minute {
		if s.NeedsRobots(now.Add(age)) {
			tries++
			s.NoteRobotsFailure(now.Add(age))
		}
		if s.Rules == nil || s.DenyAll {
			t.Fatalf("denied at %v", age)
		}
	}
	if tries != int(robotsRefreshBefore/robotsRefreshEvery) {
		t.Errorf("%d tries", tries)
	}
	if !s.NeedsRobots(now.Add(RobotsLifetime)) || s.Rules != nil || s.RobotsTries != 0 {
		t.Errorf("at its end: %+v", s)
	}
	if s.NoteRobotsFailure(now.Add(RobotsLifetime)); !s.DenyAll || s.RobotsTries != 1 {
		t.Errorf("after its end: %+v", s)
	}
}

// Equal rules are stored once, however they come; rules that no site uses are not kept.
func TestRulesPool(t *testing.T) {
	pool := NewRulesPool(0)
	parse := func(n byte) *robots.Rules {
		return robots.Parse([]byte("User-agent: *\nDisallow: /"+string(rune('a'+n))+"\n"), "orbweaver")
	}
	first := pool.Share(parse(0))
	decoded, err := pool.Decode(parse(0).Append(nil))
	if err != nil || pool.Share(parse(0)) != first || decoded != first || pool.Share(parse(1)) == first {
		t.Error("rules are not shared")
	}
	if _, err := pool.Decode([]byte("no rules")); err == nil {
		t.Error("invalid bytes were decoded")
	}
	for range 3 * sweepAtMin {
		n := len(pool.byHash)
		pool.add(uint64(1000+n), parse(2))
		if n%500 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	for i := range 2 * pool.sweepAt {
		pool.add(uint64(1e6+i), first)
		delete(pool.byHash, uint64(1e6+i))
	}
	if held := pool.byHash[first.Hash()].Value(); held != first {
		t.Error("rules in use were removed")
	}
}

// A probe of HTTP/2 that was due is not made after a resume, so that no site has two.
func TestHTTP2ProbeIsKept(t *testing.T) {
	for before, want := range map[HTTP2Probe]HTTP2Probe{
		NoHTTP2Probe: NoHTTP2Probe, HTTP2Probed: HTTP2Probed, HTTP2For403: HTTP2Probed,
		HTTP2Failed: NoHTTP2Probe, HTTP2Answered: NoHTTP2Probe, HTTP1Answered: HTTP1Answered,
	} {
		s, err := Decode(Append(nil, &State{HTTP2: before}), NewRulesPool(0))
		if err != nil || s.HTTP2 != want {
			t.Errorf("%q: %d, %v", before, s.HTTP2, err)
		}
	}
}
