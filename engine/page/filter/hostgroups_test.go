package filter

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// A line for a group stands for a rule of each of its hosts. A host may have another rule beside it, and a narrower
// rule takes a host out of the group.
func TestHostGroups_ofALine(t *testing.T) {
	r, from := hostRules(t, `
group farm: .example.org www.example.net 192.0.2.0/24 delay=10s
www.example.net   host-delay=2s
b.example.org     group=none
c.example.org     group=farm group-delay=20s host-bandwidth=50KiB/s
`)
	for host, want := range map[string]string{
		"a.example.org":   "group=farm group-delay=10s",
		"www.example.net": "host-delay=2s group=farm group-delay=10s",
		"b.example.org":   "",
		"c.example.org":   "host-bandwidth=50KiB/s group=farm group-delay=20s",
		"192.0.2.7":       "group=farm group-delay=10s",
		"198.51.100.7":    "",
	} {
		if got := said(host, r); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	delays := map[string]time.Duration{}
	if r.AddGroups(delays); len(delays) != 1 || delays["farm"] != 20*time.Second {
		t.Errorf("%v", delays)
	}
	var at HostSettings
	if r.FindAddr(netip.MustParseAddr("::ffff:192.0.2.9"), &at); at.Group != "farm" {
		t.Errorf("%+v", at)
	}
	explained := r.Explain([]byte("www.example.net"), from)
	want := "host-delay=2s (www.example.net, hosts.txt:3); group=farm group-delay=10s (www.example.net, hosts.txt:2)"
	if explained != want {
		t.Errorf("%q", explained)
	}
	again, _ := hostRules(t, strings.Join(r.Texts(), "\n"))
	if got, want := fmt.Sprint(again.Texts()), fmt.Sprint(r.Texts()); got != want {
		t.Errorf("read again: %s, want %s", got, want)
	}
	taken, err := r.Grow("group farm: b.example.org d.test delay=30s")
	if err != nil || taken != 1 || said("b.example.org", r) != "group=farm group-delay=30s" {
		t.Errorf("%d taken, %v: %s", taken, err, said("b.example.org", r))
	}
}

func TestHostsOf(t *testing.T) {
	for text, want := range map[string]string{
		".a.test exclude": ".a.test", "group farm: .a.test 192.0.2.0/24 .a.test delay=3s": ".a.test 192.0.2.0/24", "": "",
	} {
		if got := strings.Join(HostsOf(text), " "); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestHostGroups_mistakes(t *testing.T) {
	for _, bad := range []string{
		"group farm:", "group farm: delay=10s", "group : a.test delay=1s", "group two words: a.test delay=1s",
		"group farm: a.test delay=soon", "group farm: a.test delay=25h", "a.test group-delay=1s", "a.test group=",
		"a.test group=farm group=yard", "a.test group=" + strings.Repeat("x", groupNameMax+1),
		"192.0.2.0/24 group=farm host-delay=1s",
	} {
		if _, err := CompileHostRules(Rules{Texts: []string{bad}, Lines: []int{1}}); err == nil {
			t.Errorf("%s is taken", bad)
		}
		if taken, err := new(HostRules).Grow(bad); err == nil || taken != 0 {
			t.Errorf("%s is taken while the crawl runs", bad)
		}
	}
	twice := Rules{Texts: []string{"group a: a.test delay=1s", "group b: a.test delay=1s"}, Lines: []int{1, 2}}
	if _, err := CompileHostRules(twice); err == nil || !strings.Contains(err.Error(), "already, line 1") {
		t.Errorf("a host in two groups: %v", err)
	}
}
