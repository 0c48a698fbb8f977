package filter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/publicsuffix"
)

func seeds(t testing.TB, urls ...string) *Seeds {
	t.Helper()
	s := new(Seeds)
	for _, u := range urls {
		if err := s.Add([]byte(u)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func rules(t testing.TB, text string) Rules {
	t.Helper()
	list, err := ReadRules("hosts.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func scope(t testing.TB, text string, s *Seeds) *Scope {
	t.Helper()
	out, err := CompileScope(text, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNamedScopes(t *testing.T) {
	s := seeds(t, "https://www.example.co.uk/a/b.html?x=/y/", "http://site.github.io/", "http://192.0.2.1:8080/x",
		"http://[2001:db8::1]/", "http://www.amazonaws.com/", "http://github.io/")
	for _, c := range []struct {
		url                  string
		host, domain, prefix bool
	}{
		{"https://www.example.co.uk/a/c", true, true, true},
		{"http://www.example.co.uk/a/", true, true, true},
		{"http://www.example.co.uk/a", true, true, false},
		{"http://www.example.co.uk:81/a/", true, true, false},
		{"http://other.example.co.uk/", false, true, false},
		{"http://example.co.uk/a/", false, true, false},
		{"http://notexample.co.uk/a/", false, false, false},
		{"http://co.uk/", false, false, false},
		{"http://site.github.io/deep/er", true, true, true},
		{"http://other.github.io/", false, false, false},
		{"http://github.io/", true, true, true},
		{"http://192.0.2.1/", true, true, false},
		{"http://192.0.2.1:8080/x/y", true, true, true},
		{"http://8.192.0.2.1/", false, false, false},
		{"http://[2001:db8::1]/q", true, true, true},
		{"http://x.amazonaws.com/", false, true, false},
		{"http://bucket.s3.amazonaws.com/", false, false, false},
		{"http://evil.com/?www.example.co.uk/a/", false, false, false},
		{"ftp://www.example.co.uk/a/", false, false, false},
	} {
		for kind, want := range map[string]bool{"host": c.host, "domain": c.domain, "prefix": c.prefix,
			"all": c.url[0] == 'h'} {
			if got := scope(t, kind, s).Admits([]byte(c.url), Way{Depth: 3}); got != want {
				t.Errorf("%s %s: %v", kind, c.url, got)
			}
			if kind == "all" {
				continue
			}
			if got := scope(t, "in_"+kind, s).Admits([]byte(c.url), Way{Depth: 3}); got != want {
				t.Errorf("in_%s %s: %v", kind, c.url, got)
			}
		}
	}
}

// A name without a public suffix is its own domain: the scope of a crawl of localhost or of an intranet.
func TestScopes_ofNamesWithoutAPublicSuffix(t *testing.T) {
	s := seeds(t, "http://localhost:8080/", "http://intranet/", "http://wiki.corp/")
	for url, want := range map[string]bool{
		"http://localhost/x": true, "https://localhost:81/": true, "http://intranet/a": true, "http://wiki.corp/": true,
		"http://de.wiki.corp/": true, "http://other.corp/": false, "http://corp/": false, "http://www.intranet/": false,
		"http://a.localhost/": false, "http://example.org/": false,
	} {
		if got := scope(t, "domain", s).Admits([]byte(url), Way{Depth: 1}); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// If all seeds are addresses, the scope contains these addresses at any port, and no names.
func TestScopes_ofAddressesAdmitNoName(t *testing.T) {
	s := seeds(t, "http://127.0.0.1:8080/a/", "https://198.51.100.7/", "http://[2001:db8::1]:81/",
		"http://[::ffff:192.0.2.1]/")
	for _, url := range []string{"http://127.0.0.1/", "http://127.0.0.1:8080/b", "https://127.0.0.1/",
		"http://198.51.100.7:99/", "http://[2001:db8::1]/x"} {
		if !scope(t, "domain", s).Admits([]byte(url), Way{Depth: 1}) ||
			!scope(t, "host", s).Admits([]byte(url), Way{Depth: 1}) {
			t.Errorf("%s is left out", url)
		}
	}
	foreign := []string{
		"1.127.0.0.1.nip.io", "127.0.0.1.nip.io", "127.0.0.1.test", "127-0-0-1.test", "a.127.0.0.1.xip.io", "0.1", "1",
		"0.0.1", "localhost", "io", "nip.io",
		"127.0.0.2", "27.0.0.1", "198.51.100.70", "8.198.51.100", "[2001:db8::2]", "[::1]", "2001-db8--1.test", "com",
		"example.org",
	}
	for i := range 10_000 {
		foreign = append(foreign, fmt.Sprintf("h%d.example", i), fmt.Sprintf("%d.127.0.0.1.nip.io", i))
	}
	for _, kind := range []string{"domain", "host", "prefix", "in_domain", "in_host or in_prefix"} {
		is := scope(t, kind, s)
		for _, host := range foreign {
			if is.Admits([]byte("http://"+host+"/"), Way{Depth: 1}) ||
				is.Admits([]byte("http://"+host+":8080/a/"), Way{Depth: 1}) {
				t.Errorf("%s admits %s", kind, host)
			}
		}
	}
}

// TestScopesAgreeWithANaiveModel holds the three scopes against the plain reading of their definition, on random hosts.
func TestScopesAgreeWithANaiveModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	label := func() string { return []string{"a", "b", "www", "github", "co", "s3", "amazonaws"}[r.IntN(7)] }
	host := func() string {
		h := []string{"com", "co.uk", "github.io", "org", "amazonaws.com", "ck", "example"}[r.IntN(7)]
		for range r.IntN(4) {
			h = label() + "." + h
		}
		return h
	}
	url := func() string {
		u := "http://" + host() + "/"
		for range r.IntN(4) {
			u += label() + "/"
		}
		return u + []string{"", "x", "x?/a/"}[r.IntN(3)]
	}
	domain := func(u string) string {
		h := strings.Split(u, "/")[2]
		if d, err := publicsuffix.EffectiveTLDPlusOne(h); err == nil {
			return d
		}
		return h
	}
	prefix := func(u string) string {
		u, _, _ = strings.Cut(u, "?")
		return u[:strings.LastIndexByte(u, '/')+1]
	}
	for range 200 {
		var list []string
		for range 1 + r.IntN(20) {
			list = append(list, url())
		}
		s := seeds(t, list...)
		byHost, byDomain, byPrefix := scope(t, "host", s), scope(t, "domain", s), scope(t, "prefix", s)
		for range 300 {
			u := url()
			var h, d, p bool
			for _, seed := range list {
				h = h || strings.Split(seed, "/")[2] == strings.Split(u, "/")[2]
				d = d || domain(seed) == domain(u)
				p = p || strings.HasPrefix(u, prefix(seed))
			}
			if byHost.Admits([]byte(u), Way{}) != h || byDomain.Admits([]byte(u), Way{}) != d ||
				byPrefix.Admits([]byte(u), Way{}) != p {
				t.Fatalf("%s with seeds %v: want %v %v %v", u, list, h, d, p)
			}
		}
	}
}

func TestScopeExpressions(t *testing.T) {
	s := seeds(t, "http://example.org/")
	for _, c := range []struct {
		text, url string
		want      bool
	}{
		{`domain == "example.org" && depth <= 5`, "https://www.example.org/", true},
		{`site == "https://x.org:8443" and port == 8443 and scheme == "https"`, "https://x.org:8443/a?b=c", true},
		{`path == "/a" and query == "b=c" and host == "x.org"`, "https://x.org:8443/a?b=c", true},
		{`port == 443`, "https://x.org/", true},
		{`port == 80 && query == ""`, "http://x.org/", true},
		{`not (path matches "^/cal/[0-9]+")`, "http://x.org/cal/12", false},
		{`domain_of("www." + host) == "x.org"`, "http://x.org/", true},
		{`host endsWith ".org" || depth > 100`, "http://x.com/", false},
	} {
		if got := scope(t, c.text, s).Admits([]byte(c.url), Way{Depth: 5}); got != c.want {
			t.Errorf("%s %s: %v", c.text, c.url, got)
		}
	}
	bad := scope(t, `split(path, "/")[9] == "x"`, s)
	if bad.Admits([]byte("http://x.org/"), Way{}) || bad.Errors() != 1 {
		t.Error("a failed evaluation is not counted")
	}
}

func TestFaultsOfExpressionsHaveAPosition(t *testing.T) {
	for _, text := range []string{"hots", "depth ==", `depth == "x"`, "1 + 1", "status == 200", "depth > 1 &&",
		strings.Repeat("(", 70_000)} {
		_, err := CompileScope(text, nil)
		if !errors.Is(err, ErrExpression) ||
			len(text) < 100 && !strings.Contains(err.Error(), "1:") && text != "1 + 1" {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	if _, err := CompileStore("depht > 1", nil); !errors.Is(err, ErrExpression) {
		t.Error(err)
	}
}

func TestStore(t *testing.T) {
	url, r := []byte(
		"http://www.x.co.uk/a",
	), &Response{
		Status:      200,
		ContentType: []byte("Text/HTML; charset=x"),
		Size:        10,
		Duplicate:   true,
	}
	for text, want := range map[string]bool{
		"": true, "all": true, "none": false, `status == 200 and content_type startsWith "text/"`: true, "size > 10": false,
		`domain_of(host) == "x.co.uk" and domain == "x.co.uk" and seed and duplicate and not truncated`: true,
		`url[100:101] == "x" or 1 % (size - 10) == 0`:                                                   true,
	} {
		s, err := CompileStore(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Keeps(url, Way{}, r); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if s.Errors() > 0 != strings.Contains(text, "%") {
			t.Errorf("%q: %d errors", text, s.Errors())
		}
		if _, constant := s.Constant(); constant != (text == "" || text == "all" || text == "none") {
			t.Errorf("%q is constant: %v", text, constant)
		}
	}
}

func TestStat(t *testing.T) {
	url := []byte("http://www.x.co.uk/a")
	r := &Response{Status: 200, ContentType: []byte("Text/HTML; charset=x"), Size: 10, Duplicate: true, Via: []byte("v")}
	for text, want := range map[string]float64{
		"1": 1, "true": 1, "size": 10, "size / 4": 2.5, "-status": -200, `content_type == "text/html"`: 1, `via == "w"`: 0,
		`outcome == "ok" && stored ? seconds * 1000 : 0`: 250, "duplicate ? size : 0": 10, "len(host)": 11,
		`let n = status; seed ? n : size`: 200, "size > 5 ? (size > 9 ? 2 : 3) : false": 2,
		"1 % (size - 10)": 0, "size / (size - 10)": 0, // both fail
	} {
		list, err := CompileStats([]string{"a_1 = " + text}, nil, true)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := list[0].Of(url, Way{}, r, Answer{Outcome: "ok", Stored: true, Seconds: 0.25}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if failed := list[0].Errors() > 0; failed != strings.Contains(text, "- 10)") {
			t.Errorf("%q: %d errors", text, list[0].Errors())
		}
	}
	for _, text := range []string{
		"size", "=size", "A=size", "1a=size", "a=", "a=url", "a=nil", "a=[1]", "a=unknown", "a=size +", "a.b=1",
		"a=seed ? 1 : url", strings.Repeat("a", 65) + "=1",
	} {
		if _, err := CompileStats([]string{text}, nil, true); !errors.Is(err, ErrExpression) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := CompileStats([]string{"a=1", "a=2"}, nil, true); !errors.Is(err, ErrExpression) {
		t.Errorf("a name that is given twice: %v", err)
	}
	if _, err := CompileStats([]string{"a=via == '' ? 1 : 2"}, nil, false); !errors.Is(err, ErrViaUnknown) {
		t.Errorf("via without --warc-via: %v", err)
	}
	if _, err := CompileStats(slices.Repeat([]string{"a=1"}, StatsMost+1), nil, true); !errors.Is(err, ErrExpression) {
		t.Errorf("too many: %v", err)
	}
}

func TestHostSet(t *testing.T) {
	list := rules(
		t,
		"\uFEFFExact.org # why\n\n "+
			".both.org\n*.below.org\r\n192.0.2.0/24\n[2001:db8::1]\nbücher.example\n10.0.0.7\n::ffff:198.51.100.0/120\n",
	)
	s, err := CompileHosts(list)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"exact.org": true, "exact.org.": true, "www.exact.org": false, "both.org": true, "a.b.both.org": true,
		"notboth.org": false,
		"below.org":   false, "x.below.org": true, "192.0.2.200": true, "192.0.3.1": false, "[2001:db8::1]": true,
		"[2001:db8::2]": false, "2001:db8::1": true, "198.51.100.9": true,
		"xn--bcher-kva.example": true, "10.0.0.7": true, "": false, ".": false, "org": false,
	} {
		if got := s.Has([]byte(host)); got != want {
			t.Errorf("%q: %v", host, got)
		}
		if found := list.FindHost([]byte(host)); found >= 0 != want {
			t.Errorf("%q: found in rule %d", host, found)
		}
	}
	if !s.HasAddr(netip.MustParseAddr("::ffff:192.0.2.9")) || s.Len() != 8 {
		t.Error("mapped address, or length", s.Len())
	}
	if at := list.Where(list.FindHost([]byte("www.both.org"))); at != "hosts.txt:3" {
		t.Error(at)
	}
	_, err = CompileHosts(rules(t, "good.org\na b\nhttp://x/\n*.\na..b\n"))
	if !errors.Is(err, ErrRule) || strings.Count(err.Error(), "hosts.txt:") != 4 {
		t.Errorf("not all faults: %v", err)
	}
	if s.Add(".late.org") != nil || s.Add("*.later.org") != nil || s.Add("203.0.113.0/24") != nil || s.Len() != 11 {
		t.Error("a compiled set takes no more", s.Len())
	}
	for host, want := range map[string]bool{"late.org": true, "a.late.org": true, "b.later.org": true,
		"later.org": false, "203.0.113.9": true, "exact.org": true} {
		if s.Has([]byte(host)) != want {
			t.Errorf("%s after others were added: %v", host, !want)
		}
	}
	if new(HostSet).Has([]byte("x.org")) {
		t.Error("an empty set excludes")
	}
}

// TestHostsAgreeWithANaiveModel holds the trie, and the sets that grow, against rules that are read from end to end.
func TestHostsAgreeWithANaiveModel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	host := func() string {
		h := []string{"com", "co.uk", "org"}[r.IntN(3)]
		for range r.IntN(4) {
			h = []string{"a", "ab", "b", "www"}[r.IntN(4)] + "." + h
		}
		return h
	}
	for range 200 {
		var list Rules
		grown := new(HostSet)
		for i := range 1 + r.IntN(20) {
			text := []string{"", ".", "*."}[r.IntN(3)] + host()
			list.Texts, list.Lines = append(list.Texts, text), append(list.Lines, i+1)
			if err := grown.Add(text); err != nil {
				t.Fatal(err)
			}
		}
		compiled, err := CompileHosts(list)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			h := host()
			want := false
			for _, text := range list.Texts {
				below := strings.TrimPrefix(text, "*")
				want = want || text == h || text == "."+h || below[0] == '.' && strings.HasSuffix(h, below)
			}
			if compiled.Has([]byte(h)) != want || grown.Has([]byte(h)) != want ||
				list.FindHost([]byte(h)) >= 0 != want {
				t.Fatalf("%s by %q: want %v", h, list.Texts, want)
			}
		}
	}
}

func TestHostSetGrowsWhileRead(t *testing.T) {
	s := new(HostSet)
	var wg sync.WaitGroup
	const n = 3000
	wg.Go(func() {
		for i := range n {
			if err := s.Add(fmt.Sprintf("h%d.org", i)); err != nil {
				t.Error(err)
			}
			if !s.Has(fmt.Appendf(nil, "h%d.org", i)) {
				t.Error("not there after Add")
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			seen := 0
			for seen < n {
				if s.Has(fmt.Appendf(nil, "h%d.org", seen)) {
					seen++
				}
				// An element stays in the set.
				if seen > 0 && !s.Has(fmt.Appendf(nil, "h%d.org", seen/2)) {
					t.Error("a rule was lost")
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSeedsRefuseRubbish(t *testing.T) {
	s := new(Seeds)
	for _, bad := range []string{"", "x", "ftp://x/", "http://", "http:///x", "http://:80/"} {
		if s.Add([]byte(bad)) == nil {
			t.Errorf("%q", bad)
		}
	}
	if s.Hosts() != 0 {
		t.Error("something was added")
	}
}

func FuzzHostRule(f *testing.F) {
	for _, r := range []string{"a.b", ".a", "*.a", "10.0.0.0/8", "::1", "[::1]", "bücher.de", "*.*", "a%b", "\xff"} {
		f.Add(r, "x.a.b")
	}
	f.Fuzz(func(t *testing.T, text, host string) {
		s := new(HostSet)
		err := s.Add(text)
		s.Has([]byte(host))
		if err != nil && s.Len() != 0 {
			t.Fatal("a bad rule was added")
		}
		_, _ = split([]byte(host))
		sc, _ := CompileScope("domain", new(Seeds))
		sc.Admits([]byte("http://"+host), Way{})
	})
}

func manySeeds(t testing.TB) *Seeds {
	var list [][]byte
	for i := range 10_000 {
		list = append(list, fmt.Appendf(nil, "http://www.site%d.co.uk/a/b/c", i))
	}
	s := new(Seeds)
	if err := s.AddAll(list); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNamedScopesDoNotAllocate(t *testing.T) {
	s := manySeeds(t)
	hit, miss := []byte("https://x.site77.co.uk/a/b/d?q"), []byte("https://nobody.example.com/x")
	exclude := new(HostSet)
	if err := exclude.Add(".bad.org"); err != nil {
		t.Fatal(err)
	}
	host := []byte("a.bad.org")
	for _, kind := range []string{"all", "host", "domain", "prefix"} {
		sc := scope(t, kind, s)
		if n := testing.AllocsPerRun(100, func() {
			sc.Admits(hit, Way{Depth: 1})
			sc.Admits(miss,
				Way{Depth: 1})
			exclude.Has(host)
		}); n != 0 {
			t.Errorf("%s: %v allocations", kind, n)
		}
	}
}

func BenchmarkAdmits(b *testing.B) {
	s, url := manySeeds(b), []byte("https://x.site77.co.uk/a/b/d?q")
	for _, text := range []string{"all", "host", "domain", "prefix",
		`in_domain && depth < 5 && !(path startsWith "/cal/")`} {
		b.Run(strings.ReplaceAll(text, "/", "|"), func(b *testing.B) {
			sc := scope(b, text, s)
			b.ReportAllocs()
			for b.Loop() {
				sc.Admits(url, Way{Depth: 1})
			}
		})
	}
}
