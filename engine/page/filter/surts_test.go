package filter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func surts(t testing.TB, lines ...string) (*SURTs, Rules) {
	t.Helper()
	list := rules(t, strings.Join(lines, "\n"))
	s, err := CompileSURTs(list)
	if err != nil {
		t.Fatal(err)
	}
	return s, list
}

func admits(s *SURTs, url string) bool {
	p, ok := split([]byte(url))
	return ok && s.admits(p)
}

// Heritrix's forms have the same meaning.
func TestSURTForms(t *testing.T) {
	for _, story := range []struct{ rule, in, out string }{
		{"+http://(org,example,", "http://example.org/ https://www.example.org:8443/x http://example.org./",
			"http://example.com/ http://notexample.org/ http://examples.org/"},
		{"http://(org,example,)", "http://example.org/ https://example.org/a",
			"http://www.example.org/ http://example.org:8080/"},
		{"http://(org,example,:8080)/", "http://example.org:8080/x", "http://example.org/ http://example.org:80801/"},
		{"HTTPS://(org,example,)/Dir", "http://example.org/dir http://example.org/DIRECTORY?a",
			"http://example.org/other/dir"},
		{"http://(org,exa", "http://example.org/ http://exa.org/", "http://ex.org/ http://example.com/"},
		{"http://(org,example,)/a?b=", "http://example.org/a?b=c", "http://example.org/a?c"},
		{"http://", "http://anything.test/", ""},
		{"http://(", "http://anything.test/", ""},
		{"http://(192.0.2.", "http://192.0.2.7/", "http://192.0.3.7/"},
		{"http://(192.0.2.7)/", "http://192.0.2.7/x", "http://192.0.2.77/"},
		{"http://([2001:db8::1])/", "http://[2001:db8::1]/x", "http://[2001:db8::2]/"},
		{"example.org", "http://example.org/ http://a.example.org/", "http://example.com/"},
		{"+ https://example.org", "http://example.org:81/ http://a.example.org/", "http://example.com/"},
		{"https://example.org/a/b.html?x", "http://example.org/a/c", "http://example.org/b http://www.example.org/a/"},
		{"http://example.org:81", "http://example.org:81/x", "http://example.org/ http://a.example.org:81/"},
		{"http://bücher.example/", "http://xn--bcher-kva.example/x", "http://example/"},
		{".example.org", "http://example.org/ http://a.example.org/", "http://example.com/"},
		{"192.0.2.7", "http://192.0.2.7/", "http://192.0.2.70/"},
	} {
		s, list := surts(t, story.rule+"   # why")
		for url := range strings.FieldsSeq(story.in) {
			if !admits(s, url) || list.FindSURT([]byte(url)) != 0 {
				t.Errorf("%s does not take %s", story.rule, url)
			}
		}
		for url := range strings.FieldsSeq(story.out) {
			if admits(s, url) || list.FindSURT([]byte(url)) != -1 {
				t.Errorf("%s takes %s", story.rule, url)
			}
		}
	}
}

// The longest prefix decides, in any order of the file.
func TestTheLongestSURTDecides(t *testing.T) {
	s, list := surts(t, "-http://(org,example,)/private/", "+http://(org,example,", "-http://(org,example,www,)/a",
		"+http://(org,example,)/private/press/")
	for url, where := range map[string]string{
		"http://example.org/": "+2", "http://example.org/private/x": "-1", "http://example.org/private/press/y": "+4",
		"http://www.example.org/about": "-3", "http://www.example.org/b": "+2",
	} {
		if got := admits(s, url); got != (where[0] == '+') {
			t.Errorf("%s: %v", url, got)
		}
		if at := list.Where(list.FindSURT([]byte(url))); at != "hosts.txt:"+where[1:] {
			t.Errorf("%s: decided by %s", url, at)
		}
	}
	if admits(s, "http://example.com/") || s.Len() != 4 {
		t.Error("with a + in the list, what fits nothing is refused")
	}
	if s, _ := surts(t, "-http://(org,"); !admits(s, "http://example.com/") || admits(s, "http://example.org/") {
		t.Error("without a +, what fits nothing is taken")
	}
	if s, _ := surts(t); !admits(s, "http://example.com/") {
		t.Error("an empty list refuses")
	}
}

func TestFaultsOfSURTs(t *testing.T) {
	bad := []string{
		"+", "ftp://(org,", "http://(example.org)/", "http://(org,example)/", "org,example,", "(org,",
		"http://(org,example,/a", "http://(org,example,)a",
		"http://(org,example,:x)/", "http://(org,u@example,", "http://(örg,", "http://(org,a b", "http://",
		"http://(org," + strings.Repeat("a", 600), "a b",
		"*.example.org", "http://(org,*,",
	}
	for _, line := range bad {
		_, err := CompileSURTs(rules(t, "+http://(com,\n"+line))
		if line == "http://" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, ErrSURT) || !strings.Contains(err.Error(), "hosts.txt:2") {
			t.Errorf("%.40q: %v", line, err)
		}
	}
	for _, pair := range []string{"http://(org,\n-http://(org,", "http://(org,exa\n-http://(org,EXA"} {
		if _, err := CompileSURTs(rules(t, pair)); !errors.Is(err, ErrSURT) {
			t.Errorf("%q: %v", pair, err)
		}
	}
	_, err := CompileSURTs(rules(t, strings.Repeat("ftp://(\n", 50)))
	if err == nil || strings.Count(err.Error(), "hosts.txt:") != faultsTold ||
		!strings.Contains(err.Error(), "30 lines more") {
		t.Error(err)
	}
}

// TestSURTsAgreeWithANaiveModel compares the trie with a list that is read sequentially.
func TestSURTsAgreeWithANaiveModel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	host := func() string {
		h := pick("org", "com", "co.uk")
		for range r.IntN(4) {
			h = pick("a", "ab", "abc", "www", "b") + "." + h
		}
		return h
	}
	url := func() string {
		u := "http://" + pick(host(), host(), host(), "192.0.2.1", "192.0.2.17") + pick("", "", "", ":81") + "/"
		for range r.IntN(4) {
			u += pick("a", "ab", "B", "abc") + pick("/", "/", "")
		}
		return u + pick("", "", "?a/b", "?a")
	}
	naiveSURT := func(u string) string {
		authority, path, _ := strings.Cut(strings.TrimPrefix(u, "http://"), "/")
		h, port, ported := strings.Cut(authority, ":")
		labels := strings.Split(h, ".")
		slices.Reverse(labels)
		out := strings.Join(labels, ",") + ","
		if strings.HasPrefix(h, "192.") {
			out = h
		}
		if ported {
			out += ":" + port
		}
		return strings.ToLower(out + ")/" + path)
	}
	for range 300 {
		signs := map[string]string{}
		var lines []string
		for range 1 + r.IntN(40) {
			surt := naiveSURT(url())
			surt = surt[:r.IntN(len(surt)+1)]
			if _, known := signs[surt]; known {
				continue
			}
			sign, prefix, err := readSURT(pick("+", "-") + "http://(" + surt)
			if err != nil || prefix != surt {
				continue // invalid, for example a missing comma: see TestFaultsOfSURTs
			}
			signs[surt] = map[verdict]string{plus: "+", minus: "-"}[sign]
			lines = append(lines, signs[surt]+"http://("+surt)
		}
		s, list := surts(t, lines...)
		for range 100 {
			u := url()
			best, none := "", "+"
			found := false
			for prefix, sign := range signs {
				if sign == "+" {
					none = "-"
				}
				if strings.HasPrefix(naiveSURT(u), prefix) && (!found || len(prefix) > len(best)) {
					best, found = prefix, true
				}
			}
			want := none
			if found {
				want = signs[best]
			}
			if admits(s, u) != (want == "+") {
				t.Fatalf("%s by %q: %v", u, lines, admits(s, u))
			}
			if i := list.FindSURT([]byte(u)); i >= 0 != found || found && !strings.HasSuffix(list.Texts[i], "("+best) {
				t.Fatalf("%s by %q: found in %d", u, lines, i)
			}
		}
	}
}

func FuzzSURT(f *testing.F) {
	for _, r := range []string{"+http://(org,example,", "-http://(org,)/a", "example.org", "http://(192.0.2.",
		"http://([::1])/", "http://(,", "http://:"} {
		f.Add(r, "http://a.example.org/b/c?d")
	}
	f.Fuzz(func(t *testing.T, rule, url string) {
		list := Rules{Texts: []string{rule}, Lines: []int{1}}
		s, err := CompileSURTs(list)
		p, ok := split([]byte(url))
		if err != nil || !ok {
			return
		}
		fits := list.FindSURT([]byte(url)) == 0
		if s.admits(p) != (fits == s.plus) {
			t.Fatalf("%q by %q: fits %v, admitted %v", url, rule, fits, s.admits(p))
		}
	})
}

// manyLists returns n rules in each list, for other hosts than those of testURLs, or for every second one.
func manyLists(t testing.TB, n int) map[string]*Lists {
	var hosts, prefixes, blocks []string
	for i := range n {
		hosts = append(hosts,
			fmt.Sprintf("%ssite%d.%s", []string{"", "."}[i%2], i*7, []string{"com", "org", "co.uk"}[i%3]))
		prefixes = append(
			prefixes,
			fmt.Sprintf("%shttp://(%s,site%d,)/dir%d/", []string{"+", "-"}[i%2], []string{"com", "org", "uk,co"}[i%3],
				i*7, i%5),
		)
		blocks = append(blocks, fmt.Sprintf("10.%d.%d.%d/%d", i>>16&255, i>>8&255, i&255, 24+i%9))
	}
	out := map[string]*Lists{}
	var err error
	compiled := func(list []string) *HostSet {
		var set *HostSet
		if set, err = CompileHosts(Rules{Texts: list, Lines: make([]int, n)}); err != nil {
			t.Fatal(err)
		}
		return set
	}
	out["exclude-hosts"] = &Lists{ExcludeHosts: compiled(hosts)}
	out["include-hosts"] = &Lists{IncludeHosts: out["exclude-hosts"].ExcludeHosts}
	out["blocks"] = &Lists{ExcludeHosts: compiled(blocks)}
	set, err := CompileSURTs(Rules{Texts: prefixes, Lines: make([]int, n)})
	if err != nil {
		t.Fatal(err)
	}
	out["surts"] = &Lists{SURTs: set}
	ext, err := CompileExtensions([]string{"jpg", ".PNG", "gif", "mp4", "zip", "css", "js"})
	if err != nil {
		t.Fatal(err)
	}
	out["extensions"] = &Lists{ExcludeExtensions: ext}
	out["nothing"] = &Lists{}
	return out
}

// testURLs returns typical links; every second host may be in the lists.
func testURLs(n int) (urls [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		k := r.IntN(7_000_000)
		urls = append(
			urls,
			fmt.Appendf(nil, "https://www.site%d.%s/dir%d/archive/page-%d.html?id=%d", k,
				[]string{"com", "org", "co.uk"}[k/7%3], k/7%5, k, k),
			fmt.Appendf(nil, "http://site%d.%s/dir%d/photo%d.jpg", k/7*7, []string{"com", "org", "co.uk"}[k/7%3],
				k/7%5, k),
		)
	}
	return urls
}

func TestListsDoNotAllocate(t *testing.T) {
	urls := testURLs(50)
	for name, l := range manyLists(t, 1000) {
		if n := testing.AllocsPerRun(10, func() {
			for _, u := range urls {
				l.Refuses(u)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLists(b *testing.B) {
	urls := testURLs(1 << 14)
	for _, n := range []int{100, 100_000, 1_000_000} {
		lists := manyLists(b, n)
		for _, name := range []string{"nothing", "exclude-hosts", "surts", "extensions"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					lists[name].Refuses(urls[i&(len(urls)-1)])
					i++
				}
			})
		}
		b.Run(fmt.Sprintf("blocks/%d", n), func(b *testing.B) {
			url := []byte("http://192.0.2.7/a")
			b.ReportAllocs()
			for b.Loop() {
				lists["blocks"].Refuses(url)
			}
		})
	}
}

func BenchmarkCompileLists(b *testing.B) {
	for b.Loop() {
		manyLists(b, 100_000)
	}
}

// A list may come from any editor or spreadsheet. A line that cannot be a rule is named; none is without effect.
func TestReadRules_ofAllEditors(t *testing.T) {
	const text = "# our list\n\"a.example\"\n  .b.example # below, too\nc.example\n"
	var wide []byte
	for _, c := range text {
		wide = append(wide, byte(c), 0)
	}
	for what, in := range map[string]string{
		"LF": text, "CR LF with BOM": "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), "UTF-16": string(wide),
		"CR": strings.ReplaceAll(text, "\n", "\r"), "invisible": strings.ReplaceAll(text, "c.", "\u200bc.") + "\u00a0\n",
	} {
		rules, err := ReadRules("hosts.txt", strings.NewReader(in))
		if err != nil || !slices.Equal(rules.Texts, []string{"a.example", ".b.example", "c.example"}) ||
			!slices.Equal(rules.Lines, []int{2, 3, 4}) {
			t.Errorf("%s: %+v, %v", what, rules, err)
		}
		set, err := CompileHosts(rules)
		if err != nil || !set.Has([]byte("a.example")) || !set.Has([]byte("x.b.example")) || !set.Has([]byte("c.example")) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, line := range []string{
		"a.example,Title", "a.example;b.example", "<a.example>", "a.example Title", "a.example\tTitle", `"a.example`,
	} {
		rules, err := ReadRules("hosts.txt", strings.NewReader("x.example\n"+line+"\n"))
		if err == nil {
			_, err = CompileHosts(rules)
		}
		if err == nil || !strings.Contains(err.Error(), "hosts.txt:2") {
			t.Errorf("%q as a host: %v", line, err)
		}
		rules, _ = ReadRules("surts.txt", strings.NewReader("+http://(example,x,\n+http://"+line+"/ Title\n"))
		if _, err := CompileSURTs(rules); err == nil || !strings.Contains(err.Error(), "surts.txt:2") {
			t.Errorf("%q as a SURT: %v", line, err)
		}
	}
	long := "a.example\n" + strings.Repeat("x", 1<<20)
	_, err := ReadRules("hosts.txt", strings.NewReader(long))
	if err == nil || !strings.Contains(err.Error(), "hosts.txt:2") {
		t.Errorf("a long line: %v", err)
	}
}
