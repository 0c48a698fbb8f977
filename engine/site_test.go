package engine

import (
	"net/netip"
	"reflect"
	"runtime"
	"testing"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/engine/robots"
)

func TestASiteComesBackFromItsForm(t *testing.T) {
	now := time.Unix(1e9, 5)
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /a\n"), "orbweaver")
	var many Site
	many.setAddrs([]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")}, netip.MustParseAddr("10.0.0.1"), now)
	many.setRules(rules, now.Add(time.Hour))
	for _, s := range []Site{
		{}, many, NewSite(rules, now, now),
		{Stored: 7, Failures: -3, Strain: 200, RobotsTry: -1, Answered: true, Denied: true, Blocked: true, Fate: outcome.NameNotFound},
		{rare: &rareFacts{trouble: trouble{since: 1e9, last: 1e9 + 9, back: 2e9, row: 300, names: 7, why: outcome.Refused}}},
	} {
		form := AppendSite(nil, &s)
		got, err := SiteReader()(form)
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v\ncame back as %+v, %v", s, got, err)
		}
		for n := range form {
			if _, err := SiteReader()(form[:n]); err == nil && n < len(form) {
				t.Errorf("%d bytes of %d were believed", n, len(form))
			}
		}
	}
}

// A crawl that an earlier version began goes on: a site with pages has answered, whatever its form says.
func TestASiteOfAnEarlierFormIsRead(t *testing.T) {
	s := Site{Stored: 7, Failures: -3, Blocked: true, rare: &rareFacts{trouble: trouble{names: 2}}}
	form := AppendSite(nil, &s)
	troubled := append(form[:7:7], form[12:]...) // head, three numbers of a byte each; without the trouble but the failures of the name
	troubled[0] = siteTroubled
	unstrained := append(troubled[:7:7], troubled[8:]...)
	unstrained[0] = siteUnstrained
	s.Answered = true
	for _, form := range [][]byte{troubled, unstrained} {
		if got, err := SiteReader()(form); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// The name is asked for again after its time, not before; a site with one address has none to turn to.
func TestAddressesOfASite(t *testing.T) {
	now := time.Unix(1e9, 5)
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	var s Site
	if s.addrsStale(now) || s.addrCount() != 1 {
		t.Error("a site that knows of no end:", s)
	}
	s.setAddrs([]netip.Addr{a, b}, a, now)
	copied := s
	if s.addrsStale(now) || !s.addrsStale(now.Add(1)) || s.addrCount() != 2 || s.turnAddr() != b || s.turnAddr() != a {
		t.Error(s)
	}
	if copied.turnAddr() != b {
		t.Error("a copy was turned, too")
	}
	s.setAddrs([]netip.Addr{a}, a, time.Time{})
	if s.addrCount() != 1 || s.addrsStale(now.Add(1e18)) {
		t.Error(s)
	}
}

func TestRulesAreAskedForAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	var s Site
	if !s.lacksRules(now) {
		t.Error("none were asked for yet")
	}
	s.setRules(robots.AllowAll(), now.Add(robotsLife))
	if s.lacksRules(now.Add(robotsLife-robotsEarly-time.Second)) || !s.lacksRules(now.Add(robotsLife-robotsEarly)) || s.Rules == nil {
		t.Error("22 hours")
	}
	if s.lacksRules(now.Add(robotsLife)); s.Rules != nil {
		t.Error("rules of 24 hours still hold")
	}
	s.setRules(robots.AllowAll(), now.Add(robotsLife))
	if s.lacksRules(now.Add(-time.Hour)); s.Rules != nil {
		t.Error("rules from a future hold")
	}
}

// While the server does not give a new copy, the old one serves on and is asked for now and again; with its end all is denied,
// and the tries begin anew.
func TestHostile_B01_aCopyServesOnToItsEndAndNoLonger(t *testing.T) {
	now := time.Unix(1e9, 0)
	var s Site
	s.setRules(robots.AllowAll(), now.Add(robotsLife))
	tries := 0
	for age := robotsLife - robotsEarly; age < robotsLife; age += time.Minute {
		if s.lacksRules(now.Add(age)) {
			tries++
			s.robotsUnreachable(now.Add(age))
		}
		if s.Rules == nil || s.Denied {
			t.Fatalf("denied at %v", age)
		}
	}
	if tries != int(robotsEarly/robotsAgain) {
		t.Errorf("%d tries", tries)
	}
	if !s.lacksRules(now.Add(robotsLife)) || s.Rules != nil || s.RobotsTry != 0 {
		t.Errorf("at its end: %+v", s)
	}
	if s.robotsUnreachable(now.Add(robotsLife)); !s.Denied || s.RobotsTry != 1 {
		t.Errorf("after its end: %+v", s)
	}
}

// Equal rules are held once, however they come; rules that nobody has any more are not kept.
func TestRulesPool(t *testing.T) {
	pool := newRulesPool(0)
	parse := func(n byte) *robots.Rules {
		return robots.Parse([]byte("User-agent: *\nDisallow: /"+string(rune('a'+n))+"\n"), "orbweaver")
	}
	first := pool.share(parse(0))
	decoded, err := pool.decode(parse(0).Append(nil))
	if err != nil || pool.share(parse(0)) != first || decoded != first || pool.share(parse(1)) == first {
		t.Error("rules are not shared")
	}
	if _, err := pool.decode([]byte("no rules")); err == nil {
		t.Error("rubbish was believed")
	}
	for range 3 * rulesPoolMin {
		n := len(pool.byHash)
		pool.enter(uint64(1000+n), parse(2))
		if n%500 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	for i := range 2 * pool.clean {
		pool.enter(uint64(1e6+i), first)
		delete(pool.byHash, uint64(1e6+i))
	}
	if held := pool.byHash[first.Hash()].Value(); held != first {
		t.Error("rules in use were forgotten")
	}
}
