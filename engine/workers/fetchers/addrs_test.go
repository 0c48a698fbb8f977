package fetchers

import (
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/site"
)

// hostOf returns a site of a host with these addresses.
func hostOf(s site.State, addrs ...netip.Addr) site.State {
	s.SetAddrs(addrs, addrs[0], time.Time{})
	return s
}

var (
	addrA = netip.MustParseAddr("192.0.2.1")
	addrB = netip.MustParseAddr("192.0.2.2")
	addrC = netip.MustParseAddr("192.0.2.3")
)

// Two of three addresses of a host are dead. The site moves on at once: for its robots.txt, and for a page whose tries
// do not count. The address that works is kept, also when the name is resolved again.
func TestADeadAddressIsPassedAtOnce(t *testing.T) {
	dead := map[string]bool{"192.0.2.1:80": true, "192.0.2.2:80": true}
	for name, c := range map[string]struct {
		refuse, silent map[string]bool
		most           time.Duration
	}{"refused": {refuse: dead}, "silent": {silent: dead, most: 1500 * time.Millisecond}} {
		for kind, state := range map[string]site.State{"robots.txt": {}, "page": known()} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := newRig(t, map[string]string{"/robots.txt": notFound, "/page": okHTML})
					g.server.refuse, g.server.silent = c.refuse, c.silent
					s := hostOf(state, addrA, addrB, addrC)
					if s.Rules != nil {
						s.SetRules(s.Rules, time.Now().Add(site.RobotsLifetime))
					}
					v := visitOf(s, "/page")
					for _, next := range []netip.Addr{addrB, addrC} {
						began := time.Now()
						r := g.visit(t, v)
						if took := time.Since(began); took > c.most || r.Release.SiteDue.After(time.Now()) {
							t.Errorf("it took %v, and the site waits until %v", took, r.Release.SiteDue)
						}
						if _, was := r.Visit.Site.LastExchange.Until(time.Now()); was {
							t.Error("a failure without a request counts as an exchange of the site")
						}
						if r.Release.Replace != next || r.Release.Kill || r.Visit.Site.RobotsTries != 0 {
							t.Fatalf("placed at %v, want %v: %+v", r.Release.Replace, next, r.Release)
						}
						items := pathsOf(slices.Concat(r.Release.Front, r.Release.Unused))
						if !slices.Equal(items, []string{"/page"}) {
							t.Fatalf("items %q", items)
						}
						v = r
						v.Visit.Addr = next
					}
					r := g.visit(t, v)
					if r.Release.Replace.IsValid() || r.Visit.Site.Failures != 0 || len(g.server.asked) != 1 {
						t.Fatalf("placed at %v, failures %d", r.Release.Replace, r.Visit.Site.Failures)
					}
					again := r.Visit.Site.Addrs().CurrentFirst([]netip.Addr{addrA, addrB, addrC}, addrC)
					if !slices.Equal(again, []netip.Addr{addrC, addrA, addrB}) {
						t.Errorf("after the next resolution: %v", again)
					}
				})
			})
		}
	}
}

// All addresses of a host are dead. Each is tried once; then the site waits as one with a single address does.
func TestAHostWithoutLivingAddressWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, nil)
		g.server.refuse = map[string]bool{"192.0.2.1:80": true, "192.0.2.2:80": true}
		v := visitOf(hostOf(site.State{}, addrA, addrB), "/page")
		for round, want := range []time.Duration{0, 10 * time.Second, time.Minute} {
			r := g.visit(t, v)
			due := time.Until(r.Release.SiteDue)
			if due < want || due > want+want/4 || r.Release.Kill {
				t.Errorf("after failure %d the site is due in %v, want %v", round+1, due, want)
			}
			v = r
			v.Visit.Addr = r.Release.Replace
		}
	})
}
