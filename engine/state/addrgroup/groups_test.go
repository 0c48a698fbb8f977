package addrgroup

import (
	"net/netip"
	"testing"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/vfs"
)

// world is groups with rules, and what a Visit asks them.
type world struct {
	*Groups

	rules *settings.HostRules
}

func newWorld(t *testing.T, rules ...string) world {
	t.Helper()
	fixed := new(filter.HostRules)
	_, err := fixed.Grow(rules...)
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := settings.OpenHostRules(vfs.NewMem(1), "frontier", fixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return world{New(hosts, politeness.DefaultIPv6Prefix), hosts}
}

// place returns the group in which a site is placed that has its place under the key of its address; "" for none.
func (w world) place(site, addr string) string {
	terms, a := w.rules.Terms([]byte(site)), netip.MustParseAddr(addr)
	return w.rules.Groups()[w.KeyOf(&terms, a, w.keys.KeyOf(a))].Name
}

// Hosts, addresses and ranges of addresses are in their group. So are the other hosts of an address, once a host of the
// group was met there.
func TestSitesAreInTheGroupOfTheirNameOrAddress(t *testing.T) {
	w := newWorld(t, "group farm: .example.org 192.0.2.0/24 delay=10s", "group yard: 2001:db8::/32 delay=5s")
	for _, step := range []struct{ site, addr, group string }{
		{"http://other.test", "198.51.100.1", ""},
		{"http://a.example.org", "198.51.100.1", "farm"},
		{"http://other.test", "198.51.100.1", "farm"},
		{"http://other.test", "198.51.100.2", ""},
		{"http://any.test", "192.0.2.77", "farm"},
		{"http://any.test", "2001:db8::1", "yard"},
		{"https://b.example.org:8443", "2001:4860::1", "farm"},
		{"http://near.test", "2001:4860::2", "farm"}, // the same /64
		{"http://far.test", "2001:4860:0:1::2", ""},
	} {
		if got := w.place(step.site, step.addr); got != step.group {
			t.Errorf("%s at %s is in %q, want %q", step.site, step.addr, got, step.group)
		}
	}
}

// A restart learns the shared addresses from the places of the sites. A group without rules has no sites.
func TestARestartKnowsTheAddressesOfGroups(t *testing.T) {
	w := newWorld(t, "group farm: .example.org delay=10s")
	addr, farm := netip.MustParseAddr("198.51.100.1"), politeness.GroupKey("farm")
	terms := w.rules.Terms([]byte("http://a.example.org"))
	if own := w.Restore(&terms, addr, farm); own != addr {
		t.Errorf("own key %v", own)
	}
	if got := w.place("http://other.test", addr.String()); got != "farm" {
		t.Errorf("in %q", got)
	}
	without := newWorld(t)
	if key := without.KeyOf(new(filter.HostSettings), addr, farm); key != addr {
		t.Errorf("without rules: under %v", key)
	}
}

// When a group gets another name, its hosts have their places under the old one. They go to their address first: only
// there is no other site of the address in an exchange. Then the others move to the new group, too.
func TestAGroupThatIsRenamedTakesTheOtherSitesAlong(t *testing.T) {
	addr, old := netip.MustParseAddr("198.51.100.1"), politeness.GroupKey("farm")
	for name, w := range map[string]world{
		"while the crawl runs": newWorld(t, "group barn: .example.org delay=10s"),
		"between two runs":     newWorld(t, "group barn: .example.org delay=10s"),
	} {
		if name == "while the crawl runs" {
			w.learn(addr, "farm")
		}
		terms, none := w.rules.Terms([]byte("http://a.example.org")), new(filter.HostSettings)
		if key := w.KeyOf(&terms, addr, old); key != addr {
			t.Errorf("%s: from the old group to %v", name, key)
		}
		if key := w.KeyOf(none, addr, old); key != addr {
			t.Errorf("%s: another site from the old group to %v", name, key)
		}
		if got := w.place("http://a.example.org", addr.String()); got != "barn" {
			t.Errorf("%s: from its address to %q", name, got)
		}
		if got := w.place("http://other.test", addr.String()); got != "barn" {
			t.Errorf("%s: another site from the address to %q", name, got)
		}
		if key := w.KeyOf(&terms, addr, politeness.GroupKey("barn")); key != politeness.GroupKey("barn") {
			t.Errorf("%s: from the new group to %v", name, key)
		}
	}
}

// Without groups, a Visit costs a load and a comparison.
func BenchmarkWithoutGroups(b *testing.B) {
	hosts := new(settings.HostRules)
	g, terms := New(hosts, politeness.DefaultIPv6Prefix), new(filter.HostSettings)
	addr := netip.MustParseAddr("198.51.100.1")
	for b.Loop() {
		if g.KeyOf(terms, addr, addr) != addr {
			b.Fatal("moved")
		}
	}
}
