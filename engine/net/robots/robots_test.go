package robots

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/urlx"
)

// verdicts checks the rules of a file: "+/path" is allowed, "-/path" is denied.
func verdicts(t *testing.T, file string, want ...string) {
	t.Helper()
	r := Parse([]byte(file), "orbweaver")
	for _, w := range want {
		if got := r.Allowed([]byte(w[1:])); got != (w[0] == '+') {
			t.Errorf("%.200q: %s: allowed is %v", file, w, got)
		}
	}
}

func TestR1_LongestMatchWinsAndAllowWinsTies(t *testing.T) {
	const agent = "User-agent: orbweaver\n"
	verdicts(t, agent+"Disallow: /\nAllow: /a\nDisallow: /a/b\n", "-/", "+/a", "+/a/", "-/a/b", "-/a/bc", "+/ab")
	verdicts(t, agent+"Disallow: /a\nAllow: /a\n", "+/a")
	verdicts(t, agent+"Allow: /page\nDisallow: /*.htm\n", "-/page.htm", "+/page")
	verdicts(t, agent+"Allow: /$\nDisallow: /\n", "+/", "-/x", "-/?q")
	verdicts(t, agent+"Disallow:\n", "+/")
	verdicts(t, agent+"Disallow: a\nDisallow: http://h/b\n", "+/a", "+/b")
	verdicts(t, agent+"Disallow: /A\n", "+/a", "-/A")
	verdicts(t, agent+"Disallow: /*\n", "-/", "-/x")
	verdicts(t, agent+"Disallow: *x\n", "-/ax", "+/a")
	verdicts(t, agent+"Disallow: /a*$\n", "-/a", "-/ab", "+/b")
	verdicts(t, agent+"Disallow: /a$b\n", "-/a$b", "-/a%24b", "+/a")
	verdicts(t, agent+"Disallow: /a%24\nDisallow: /b%2A\n", "-/a$x", "+/a", "-/b*", "-/b%2a", "+/bx")
	verdicts(t, agent+"Disallow: /*?*id=\n", "-/p?id=1", "-/p?x&id=1", "+/p?i", "+/id=")
}

func TestR1_SpellingsOfOnePathAreEqual(t *testing.T) {
	const agent = "User-agent: orbweaver\n"
	verdicts(t, agent+"Disallow: /caf\u00e9\n", "-/caf%C3%A9", "-/caf%c3%a9", "-/caf\u00e9", "+/cafe")
	verdicts(t, agent+"Disallow: /%7euser\n", "-/~user", "-/%7Euser")
	verdicts(t, agent+"Disallow: /a%2Fb\n", "-/a%2fb", "+/a/b")
	verdicts(t, agent+"Disallow: /a b\n", "-/a%20b")
	verdicts(t, agent+"Disallow: /?q='x'\n", "-/?q=%27x%27")
	verdicts(t, agent+"Disallow: /100%\n", "-/100%", "-/100%25")
	verdicts(t, agent+"Disallow: /foo/bar?a=http://x/\n", "-/foo/bar?a=http://x/y")
}

func TestAnIndexPageThatIsAllowedAllowsItsFolder(t *testing.T) {
	const agent = "User-agent: orbweaver\nDisallow: /\n"
	verdicts(t, agent+"Allow: /x/index.html\nAllow: /y/index.htm\nAllow: /z/index.htmx\n",
		"+/x/", "+/x/index.html", "-/x/index.htm", "-/x/?q", "-/x", "+/y/", "-/z/", "+/z/index.htmx")
	verdicts(t, "User-agent: *\nDisallow: /x/index.html\n", "+/x/", "-/x/index.html")
	want := Explanation{Allowed: true, Line: 3, Rule: "Allow: /x/index.html"}
	if got := Parse([]byte(agent+"Allow: /x/index.html # and /x/"), "orbweaver").Explain([]byte("/x/")); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAPathBeyondASCIIMustBeAllowedInBothSpellings(t *testing.T) {
	verdicts(t, "User-agent: *\nDisallow: /\nAllow: /caf\u00e9\nAllow: /*x\n", "+/caf%C3%A9", "-/caf\u00e9", "+/\u00e9x")
	verdicts(t, "User-agent: *\nDisallow: /caf\u00e9\n", "-/caf%C3%A9", "-/caf\u00e9", "+/cafe\u00e9")
}

func TestExplainURLTakesWhatPeopleWrite(t *testing.T) {
	r := Parse([]byte("User-agent: *\nDisallow: /a\nAllow: /a/caf\u00e9\nDisallow: /$\n"), "orbweaver")
	for raw, want := range map[string]int{
		"HTTP://Example.org/x/../a#b": 2, "http://example.org/a/caf%c3%a9": 3, "http://example.org/a/caf\u00e9": 2, "/a/x": 2,
		"http://example.org": 4, "": 4, "//example.org/a": 2, "http://example.org/b": 0,
		"http://example.org/a/" + strings.Repeat("x", urlx.LengthMax): 2,
	} {
		if v, err := r.ExplainURL([]byte(raw)); err != nil || v.Line != want {
			t.Errorf("%.60q: %+v, %v, want line %d", raw, v, err, want)
		}
	}
	for _, raw := range []string{"nonsense", "mailto:a@b", "http://[/a"} {
		if v, err := r.ExplainURL([]byte(raw)); err == nil {
			t.Errorf("%q: %+v", raw, v)
		}
	}
}

func TestGroupsAreMerged(t *testing.T) {
	file := "User-agent: a\nUser-agent: ORBWEAVER/7.1 (x)\nDisallow: /1\n\nUser-agent: *\nDisallow: /2\n" +
		"User-agent: b\nDisallow: /3\n\nuser-agent:orbweaver # us again\nDisallow: /4\n"
	verdicts(t, file, "-/1", "+/2", "+/3", "-/4")
	verdicts(t, "User-agent: orbweaverbot\nDisallow: /\n", "+/x")
	verdicts(t, "User-agent: orb\nDisallow: /\n", "+/x")
	verdicts(t, "User-agent: *\nDisallow: /\nUser-agent: orbweaver\n", "+/x") // named, without rules
	verdicts(t, "User-agent: * \t\nDisallow: /2\nUser-agent: *\nDisallow: /3\n", "-/2", "-/3")
	verdicts(t, "User-agent: *foo\nDisallow: /\n", "+/x")
	// rules before the first group count for no agent
	verdicts(t, "Disallow: /\nUser-agent: *\nDisallow: /2\n", "+/x", "-/2")
	verdicts(t, "User-agent: x\nSitemap: /s\nCrawl-delay: 9\nHuh: 1\nUser-agent: *\nDisallow: /\n", "-/x")
	// an empty rule ends the list of agents
	verdicts(t, "User-agent: orbweaver\nDisallow:\nUser-agent: *\nDisallow: /\n", "+/x")
	if r := Parse([]byte("User-agent: \nDisallow: /\n"), ""); !r.Allowed([]byte("/x")) {
		t.Error("an agent without a name is in no group but *")
	}
}

func TestTolerance(t *testing.T) {
	verdicts(t, "\ufeffUser-agent:*\rDisallow:/1\r\n\r\nDISALLOW : /2\n  disallow\t/3  \nDisallow /4 5\nDissallow: /6",
		"-/1", "-/2", "-/3", "+/4", "-/6")
	verdicts(t, "User-agent: *\nDisallow: /a#b\nDisallow: /c # d\n", "-/a", "-/c", "+/d")
	verdicts(t, "<html><body>Not found: sorry</body></html>", "+/x")
	verdicts(t, "User-agent: *\nDis\x00allow: /a\x00b\n", "-/ab")
	utf16 := func(order int) string {
		s := []string{"\xff\xfe", "\xfe\xff"}[order]
		for _, c := range "User-agent: *\r\nDisallow: /x\r\n" {
			s += []string{string(c) + "\x00", "\x00" + string(c)}[order]
		}
		return s
	}
	verdicts(t, utf16(0), "-/x", "+/y")
	verdicts(t, utf16(1), "-/x", "+/y")
	long := strings.Repeat("a", 2*lineMax)
	verdicts(t, "User-agent: *\nDisallow: /"+long+"\n", "-/"+long[:lineMax], "+/"+long[:100])
}

func TestHostile_B04_onlyTheFirst500KiBCountAndOnlyWholeLines(t *testing.T) {
	head := "User-agent: *\nDisallow: /first\n"
	fill := strings.Repeat("#\n", (bodyMax-len(head))/2-20)
	space := bodyMax - len(head) - len(fill)
	last := "Disallow: /last"
	exact := strings.Repeat("#", space-len(last)-1) + "\n" + last // ends at the limit, not at a line end
	verdicts(t, head+fill+exact, "-/first", "-/last")
	verdicts(t, head+fill+exact+"\nDisallow: /beyond\n", "-/first", "-/last", "+/beyond")
	verdicts(t, head+fill+exact+"/more\n", "-/first", "+/last", "+/last/more") // a rule that is cut off does not count
	verdicts(t, strings.Repeat("x", 3*bodyMax), "+/x")
}

func TestHostile_B08_aCrawlDelayIsReadWithPatience(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"10": 10 * time.Second, "1.5": 1500 * time.Millisecond, "10s": 10 * time.Second, ".5": 500 * time.Millisecond,
		"0": 0, "3 seconds": 3 * time.Second, "250ms": 250 * time.Millisecond, "2 min": 2 * time.Minute, "1H": time.Hour,
		"1e1": 10 * time.Second, "1e9": 1e9 * time.Second, "1e999": delayMaxMs * time.Millisecond,
		"5 # five": 5 * time.Second,
		"-1":       -1, "": -1, "soon": -1, ".": -1, "e5": -1, "1.2.3": -1,
	} {
		d, ok := Parse([]byte("User-agent: *\nCrawl-delay: "+value+"\n"), "x").CrawlDelay()
		if ok != (want >= 0) || ok && d != want {
			t.Errorf("%q: %v, %v", value, d, ok)
		}
	}
	file := []byte("User-agent: a\nCrawl-delay: 1\nUser-agent: *\nCrawl-delay: 7\nDisallow: /\nUser-agent: " +
		"a\nCrawl-delay: 3\nCrawl-delay: 2\n")
	if d, _ := Parse(file, "a").CrawlDelay(); d != 7*time.Second {
		t.Errorf("the longest of an agent's delays: %v", d) // the first group is for both a and *
	}
	if line := Parse(file, "a").CrawlDelayLine(); line != 4 {
		t.Errorf("the longest delay is in line %d", line)
	}
	if line := Parse([]byte("User-agent: *\nDisallow: /\n"), "a").CrawlDelayLine(); line != 0 {
		t.Errorf("no delay, in line %d", line)
	}
	if d, ok := Parse([]byte("User-agent: a\nDisallow: /\nUser-agent: *\nCrawl-delay: 9\n"), "a").CrawlDelay(); ok {
		t.Errorf("another group's delay: %v", d)
	}
}

// The colon may be missing before a value that has one.
func TestLinesWithoutAColonMayHaveOneInTheirValue(t *testing.T) {
	r := Parse([]byte("Sitemap http://a/1\nsitemap\thttps://a:8/2\nUser-agent *\nDisallow /x:y\nAllow: /x:y z\n"), "x")
	if got := strings.Join(r.Sitemaps(), " "); got != "http://a/1 https://a:8/2" {
		t.Errorf("%q", got)
	}
	if r.Allowed([]byte("/x:y/z")) || !r.Allowed([]byte("/x")) {
		t.Error("Disallow /x:y is not read")
	}
	if r = Parse([]byte("User agent: *\nCrawl delay: 2\nDisallow: /b\n"), "x"); r.Allowed([]byte("/b")) {
		t.Error("a key of two words is not read")
	}
}

func TestSitemapsOfAnyGroup(t *testing.T) {
	r := Parse([]byte("Sitemap: http://a/1\nUser-agent: x\nsite-map: http://a/2?b:c\nDisallow: /\nSitemap:\n"),
		"orbweaver")
	if got := strings.Join(r.Sitemaps(), " "); got != "http://a/1 http://a/2?b:c" {
		t.Errorf("got %q", got)
	}
	if len(AllowAll().Sitemaps())+len(DenyAll().Sitemaps()) != 0 {
		t.Error("sitemaps out of nothing")
	}
}

func TestExplainNamesTheLine(t *testing.T) {
	r := Parse([]byte("# hello\r\nUser-agent: *\rDisallow: /a b\n\n  DISALLOW:/c  # why\nAllow: /a "+
		"b/%64*$\nDisallow: /a b\n"), "orbweaver")
	for path, want := range map[string]Explanation{
		"/":           {Allowed: true},
		"/a%20b":      {Line: 3, Rule: "Disallow: /a b"},
		"/c":          {Line: 5, Rule: "DISALLOW:/c"},
		"/a%20b/dog":  {Allowed: true, Line: 6, Rule: "Allow: /a b/%64*$"},
		"/robots.txt": {Allowed: true},
	} {
		reason := ""
		if want.Line > 0 {
			reason = fmt.Sprintf("%d %s", want.Line, want.Rule)
		}
		if allowed, got := r.AppendAllowed([]byte("by "), []byte(path)); allowed != want.Allowed ||
			string(got) != "by "+reason {
			t.Errorf("%s: %v %s", path, allowed, got)
		}
		if got := r.Explain([]byte(path)); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
	if got := DenyAll().Explain([]byte("/")); got != (Explanation{}) {
		t.Errorf("DenyAll: %+v", got)
	}
}

func TestR4_RobotsTxtItselfIsAlwaysAllowed(t *testing.T) {
	verdicts(t, "User-agent: *\nDisallow: /\nDisallow: /robots.txt\n", "+/robots.txt", "-/robots.txt?x", "-/robots.txtx")
	if !DenyAll().Allowed([]byte("/robots.txt")) || DenyAll().Allowed([]byte("/")) || !AllowAll().Allowed([]byte("/")) {
		t.Error("the two constants")
	}
}

func TestR2_HostileFilesCostLittle(t *testing.T) {
	for name, h := range hostile() {
		r, path := Parse([]byte(h[0]), "orbweaver"), []byte(h[1])
		const limit = 5 // a tenth of it is usual
		if cost := cputime.Cost(20, limit, func() { r.Allowed(path) }, cputime.Reference); cost > limit {
			t.Errorf("%s: %.1f million steps of a hash for a URL", name, cost)
		}
	}
}

func TestR2_WorkBeyondReasonDenies(t *testing.T) {
	// The path contains the literals of each rule in another order, so that no shortcut helps.
	build := func(n int) (*Rules, []byte) {
		var file, path strings.Builder
		file.WriteString("User-agent: *\n")
		path.WriteByte('/')
		for i := range n {
			fmt.Fprintf(&path, "b%03d", i)
			fmt.Fprintf(&file, "Disallow: /*b%03d*b%03d\n", i+1, i)
		}
		return Parse([]byte(file.String()), "orbweaver"), []byte(path.String())
	}
	r, path := build(900)
	if got := r.Explain(path); !got.Allowed {
		t.Errorf("%d octets of work: %+v", 900*len(path), got)
	}
	r, path = build(1999)
	if got := r.Explain(path); got != (Explanation{}) {
		t.Errorf("%d octets of work: %+v", 1999*len(path), got)
	}
	if got := r.Explain([]byte("/short")); !got.Allowed {
		t.Errorf("the same file, for an ordinary path: %+v", got)
	}
}

func TestR3_SnapshotFormComesBackAndFaultsAreErrors(t *testing.T) {
	for _, r := range []*Rules{AllowAll(), DenyAll(), Parse(ordinary(), "orbweaver")} {
		checkRoundTrip(t, r)
		form := r.Append([]byte("x"))[1:]
		for n := range form {
			if cut, err := Decode(form[:n]); err == nil {
				t.Errorf("%d of %d octets decode to %v", n, len(form), cut)
			} else if !errors.Is(err, ErrCorrupt) {
				t.Errorf("error %v", err)
			}
		}
		if _, err := Decode(append(bytes.Clone(form), 0)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("one octet too many: %v", err)
		}
	}
	// Fixed bytes: checkpoints contain them.
	form := Parse([]byte("User-agent: *\nDisallow: /a\nAllow:/b*$\nCrawl-delay: 2\nSitemap: s\n"), "x").Append(nil)
	const want = `"\x02\x02\xd0\x0f\x04\x15\x13\x03/b\x00\x01\nAllow:/b*$\b\x02/a\x01\x01s"`
	if got := fmt.Sprintf("%q", form); got != want {
		t.Errorf("snapshot form %s", got)
	}
	// The form of earlier versions is without the line.
	old, err := Decode([]byte("\x01\x02\xd0\x0f\x15\x13\x03/b\x00\x01\nAllow:/b*$\b\x02/a\x01\x01s"))
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := old.CrawlDelay(); !ok || d != 2*time.Second || old.CrawlDelayLine() != 0 || old.Allowed([]byte("/a")) {
		t.Errorf("the form of earlier versions: %v, line %d", d, old.CrawlDelayLine())
	}
}

func TestEqualRulesHashEqual(t *testing.T) {
	a := Parse([]byte("User-agent: *\nDisallow: /a\nDisallow: /b\n"), "orbweaver")
	b := Parse([]byte("USER-AGENT: *\r\nDisallow: /a # same\r\nDisallow: /b"), "somebody-else")
	c := Parse([]byte("User-agent: *\nDisallow: /a\nDisallow: /c\n"), "orbweaver")
	if a.Hash() != b.Hash() || !a.Equal(b) || a.Hash() == c.Hash() || a.Equal(c) {
		t.Error("hashes")
	}
	if n := Parse(ordinary(), "x").Size(); n > 2000 {
		t.Errorf("ordinary rules take %d bytes", n)
	}
}

func TestParseKeepsNothingOfTheBody(t *testing.T) {
	body := ordinary()
	r := Parse(body, "x")
	before := r.Append(nil)
	clear(body)
	if !bytes.Equal(before, r.Append(nil)) {
		t.Error("the rules changed with the body")
	}
}

func TestAllowedAllocatesNothing(t *testing.T) {
	r := Parse(ordinary(), "orbweaver")
	for _, path := range []string{"/section7/public/page.html?id=4", "/caf\u00e9/%7euser", "/%7Euser", "/robots.txt"} {
		p := []byte(path)
		if n := testing.AllocsPerRun(100, func() { r.Allowed(p) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}
