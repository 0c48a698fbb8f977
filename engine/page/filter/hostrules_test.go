package filter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func hostRules(t testing.TB, text string) (*HostRules, Rules) {
	t.Helper()
	from, err := ReadRules("hosts.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := CompileKeptHostRules(from)
	if err != nil {
		t.Fatal(err)
	}
	return r, from
}

// said returns the settings of a host, as text.
func said(host string, rules ...*HostRules) string {
	var t HostSettings
	for _, r := range rules {
		r.Find([]byte(host), &t)
	}
	one := hostRule{terms: t, keys: [termKeys]bool{
		t.HasDelay, t.HasCap, t.Exclude, t.UserAgent != "", t.IgnoreRobots, t.Bandwidth > 0, t.Group != "",
		t.Timeouts.Connect > 0, t.Timeouts.Response > 0, t.Timeouts.Exchange > 0,
	}}
	one.name, one.self = host, true
	return strings.TrimPrefix(strings.TrimPrefix(one.String(), host), " ")
}

// Time limits follow the narrowest rule, each by itself.
func TestHostRules_timeouts(t *testing.T) {
	r, _ := hostRules(t, `
.example.org       response-timeout=2m exchange-timeout=20m
www.example.org    response-timeout=10s connect-timeout=3s
`)
	for host, want := range map[string]string{
		"a.example.org":   "response-timeout=2m0s exchange-timeout=20m0s",
		"www.example.org": "connect-timeout=3s response-timeout=10s exchange-timeout=20m0s",
		"example.net":     "",
	} {
		if got := said(host, r); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	again, _ := hostRules(t, strings.Join(r.Texts(), "\n"))
	if got, want := fmt.Sprint(again.Texts()), fmt.Sprint(r.Texts()); got != want {
		t.Errorf("read again: %s, want %s", got, want)
	}
	for _, bad := range []string{
		"a.test connect-timeout=0s", "a.test response-timeout=25h", "a.test exchange-timeout=long",
	} {
		if _, err := CompileHostRules(Rules{Texts: []string{bad}, Lines: []int{1}}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// A user agent and a policy for robots.txt follow the narrowest rule, too. Ignoring robots.txt needs a reason.
func TestHostRules_userAgentAndRobots(t *testing.T) {
	r, _ := hostRules(t, `
.example.org       user-agent="Mozilla/5.0 (compatible; bot)" robots=ignore reason="legal deposit, section 5"
www.example.org    robots=obey
*.example.net      user-agent=bot/1
`)
	for host, want := range map[string]string{
		"example.org":     `user-agent="Mozilla/5.0 (compatible; bot)" robots=ignore reason="legal deposit, section 5"`,
		"www.example.org": `user-agent="Mozilla/5.0 (compatible; bot)"`,
		"a.example.net":   `user-agent="bot/1"`,
		"example.net":     "",
	} {
		if got := said(host, r); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	if got := strings.Join(r.RobotsIgnored(), "|"); got != ".example.org: legal deposit, section 5" {
		t.Errorf("ignored: %s", got)
	}
	again, _ := hostRules(t, strings.Join(r.Texts(), "\n"))
	if got, want := fmt.Sprint(again.Texts()), fmt.Sprint(r.Texts()); got != want {
		t.Errorf("read again: %s, want %s", got, want)
	}
	for _, bad := range []string{
		"a.test robots=ignore", "a.test reason=x", "a.test robots=obey reason=x", "a.test robots=maybe",
		`a.test user-agent=""`, `a.test user-agent="open`, "a.test robots=ignore robots=obey reason=x",
		`a.test user-agent="two\nlines"`, "a.test user-agent=" + strings.Repeat("x", termTextMax+1),
	} {
		if _, err := CompileHostRules(Rules{Texts: []string{bad}, Lines: []int{1}}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestHostRules_theNarrowestDecidesKeyByKey(t *testing.T) {
	r, from := hostRules(t, `
.example.org      host-delay=10s max-per-host=1000   # all of it
*.example.org     max-per-host=50
www.example.org   host-delay=500ms
.private.example.org exclude
open.private.example.org exclude=no
example.net       exclude
.example          max-per-host=0
192.0.2.0/24      host-delay=1m exclude
192.0.2.7         exclude=no
2001:db8::/32     exclude
`)
	f := func(host, want string) {
		t.Helper()
		if got := said(host, r); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	f("example.org", "host-delay=10s max-per-host=1000")
	f("example.org.", "host-delay=10s max-per-host=1000")
	f("a.example.org", "host-delay=10s max-per-host=50")
	f("www.example.org", "host-delay=500ms max-per-host=50")
	f("a.www.example.org", "host-delay=10s max-per-host=50")
	f("private.example.org", "host-delay=10s max-per-host=50 exclude")
	f("a.private.example.org", "host-delay=10s max-per-host=50 exclude")
	f("open.private.example.org", "host-delay=10s max-per-host=50")
	f("example.net", "exclude")
	f("www.example.net", "")
	f("a.example", "max-per-host=0")
	f("org", "")
	f("badexample.org", "")
	f("192.0.2.1", "host-delay=1m0s exclude")
	f("192.0.2.7", "host-delay=1m0s")
	f("192.0.3.1", "")
	f("[2001:db8::1]", "exclude")
	f("[2001:db9::1]", "")
	if says := r.Explain([]byte("www.example.org"), from); says !=
		"host-delay=500ms (www.example.org, hosts.txt:4); max-per-host=50 (*.example.org, hosts.txt:3)" {
		t.Error(says)
	}
	if !r.Excludes() || !r.Delays() || r.Len() != 10 {
		t.Errorf("%v %v %d", r.Excludes(), r.Delays(), r.Len())
	}
}

// A later rule for the same hosts wins, key by key; an earlier narrower rule remains.
func TestHostRules_laterOnesReplaceWhatIsAsNarrow(t *testing.T) {
	fixed, _ := hostRules(t, ".a.test host-delay=1s max-per-host=3\nwww.a.test host-delay=2s")
	live := new(HostRules)
	taken, err := live.Grow(".a.test host-delay=9s", "no rule", ".b.test exclude", ".a.test host-delay=8s",
		".b.test max-per-host=1")
	if taken != 4 || err == nil || !strings.Contains(err.Error(), `"no rule"`) {
		t.Fatalf("%d taken, %v", taken, err)
	}
	if got := live.Texts(); !slices.Equal(got, []string{".a.test host-delay=8s", ".b.test max-per-host=1 exclude"}) {
		t.Errorf("%q", got)
	}
	for host, want := range map[string]string{
		"a.test": "host-delay=8s max-per-host=3", "www.a.test": "host-delay=2s max-per-host=3",
		"x.b.test": "max-per-host=1 exclude",
	} {
		if got := said(host, fixed, live); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	_, err = live.Grow(".b.test exclude=no")
	if err != nil || live.Excludes() || said("b.test", live) != "max-per-host=1" {
		t.Errorf("%v, %q", err, said("b.test", live))
	}
}

func TestHostRules_mistakesAreToldWithTheirPlace(t *testing.T) {
	from, err := ReadRules("hosts.txt", strings.NewReader(`a.test
a.test host-delay
a.test host-delay=-1s
a.test max-per-host=-1
a.test colour=red
a.test exclude exclude=no
http://a.test/ exclude
a.test host-delay=25h
a.test exclude
a.test host-delay=1s
`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = CompileHostRules(from)
	for _, want := range []string{
		"hosts.txt:1:", "hosts.txt:2:", "hosts.txt:3:", "hosts.txt:4:", "hosts.txt:5:", "hosts.txt:6:", "hosts.txt:7:",
		"hosts.txt:8:",
		`hosts.txt:10: filter: bad host rule: "a.test": there is a rule for it already, hosts.txt:9`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hosts.txt:9: ") {
		t.Error(err)
	}
}

// A plain reading of all rules, one by one, agrees with the trie.
func TestHostRules_agreeWithAPlainReading(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	label := func() string { return string(rune('a' + rng.IntN(3))) }
	name := func() string {
		n := label()
		for range rng.IntN(4) {
			n = label() + "." + n
		}
		return n
	}
	for range 300 {
		live := new(HostRules)
		for range 1 + rng.IntN(12) {
			text := []string{"", ".", "*."}[rng.IntN(3)] + name() + fmt.Sprintf(" host-delay=%ds", rng.IntN(100))
			if _, err := live.Grow(text); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			host, rank := name(), -1
			var want time.Duration
			for _, one := range live.rules {
				r := 3 * strings.Count(one.name, ".")
				if one.self != one.below {
					r++
				}
				if one.self && !one.below {
					r++
				}
				if one.matches([]byte(host)) && r > rank {
					rank, want = r, one.terms.HostDelay
				}
			}
			var terms HostSettings
			live.Find([]byte(host), &terms)
			if terms.HasDelay != (rank >= 0) || terms.HostDelay != want {
				t.Fatalf("%s: %v, want %v of %q", host, terms, want, live.Texts())
			}
		}
	}
}

func TestHostRules_doNotAllocateForNames(t *testing.T) {
	r, _ := hostRules(t, ".example.org host-delay=10s\nwww.example.org max-per-host=2")
	host := []byte("www.example.org")
	if n := testing.AllocsPerRun(100, func() {
		var terms HostSettings
		r.Find(host, &terms)
		if terms.MaxPerHost != 2 || terms.Delay() == nil {
			t.Error("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The cost of one lookup, if half of the hosts have a rule.
func BenchmarkHostRules(b *testing.B) {
	hosts := make([][]byte, 4096)
	for i := range hosts {
		hosts[i] = fmt.Appendf(nil, "www.site%d.example", i*7919%200_000)
	}
	for _, n := range []int{0, 100, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := new(HostRules)
			from := Rules{Lines: make([]int, n)}
			for i := range n {
				from.Texts = append(from.Texts, fmt.Sprintf(".site%d.example host-delay=10s max-per-host=100", i*2))
			}
			if n > 0 {
				var err error
				if r, err = CompileHostRules(from); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				var t HostSettings
				r.Find(hosts[i%len(hosts)], &t)
			}
		})
	}
}

// A rule for a range of addresses would match only hosts that are addresses. It is refused with its place, and the
// error names the right options.
func TestHostRules_ofARangeOfAddressesAreRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		"192.0.2.0/24 exclude": true, "2001:db8::/32 host-delay=9s": true, "0.0.0.0/0 max-per-host=1": true,
		"192.0.2.7 exclude": false, "192.0.2.7/32 exclude": false, "[2001:db8::1] exclude": false,
	} {
		from, err := ReadRules("hosts.txt", strings.NewReader(".a.test exclude\n"+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = CompileHostRules(from)
		if (err != nil) != refused ||
			refused && (!strings.Contains(err.Error(), "hosts.txt:2") || !strings.Contains(err.Error(), "--deny-net")) {
			t.Errorf("%s in a file: %v", text, err)
		}
		if taken, err := new(HostRules).Grow(text); (err != nil) != refused || (taken == 0) != refused {
			t.Errorf("%s while the crawl runs: %d taken, %v", text, taken, err)
		}
	}
}

// A time before which a host is not asked is read in any zone, and written in UTC.
func TestHostRules_notBefore(t *testing.T) {
	r, _ := hostRules(t, ".a.test not-before=2027-01-31T13:00:00+01:00\nb.a.test exclude=no")
	var terms HostSettings
	r.Find([]byte("b.a.test"), &terms)
	if !terms.NotBefore.Equal(time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)) || !terms.Allows() {
		t.Errorf("%+v", terms)
	}
	if texts := r.Texts(); texts[0] != ".a.test not-before=2027-01-31T12:00:00Z" {
		t.Errorf("%q", texts)
	}
	for _, bad := range []string{"a.test not-before=tomorrow", "a.test not-before=", "a.test not-before"} {
		if _, err := CompileHostRules(Rules{Texts: []string{bad}, Lines: []int{1}}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
