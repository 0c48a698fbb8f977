package dryrun

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/mining"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/traps"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/sieve/fpcache"
)

// seedsOf is an admission.SeedSource of strings.
type seedsOf []string

func (s seedsOf) Each(f func(where string, url []byte) error) error {
	for i, u := range s {
		if err := f(fmt.Sprintf("seed %d", i+1), []byte(u)); err != nil {
			return err
		}
	}
	return nil
}

func rulesOf(lines ...string) filter.Rules {
	r := filter.Rules{Name: "list.txt", Texts: lines}
	for i := range lines {
		r.Lines = append(r.Lines, i+1)
	}
	return r
}

// explained is a crawl with a rule of every kind.
func explained(t *testing.T) Options {
	t.Helper()
	from := Sources{
		ExcludeHosts: rulesOf("bad.example.org", ".worse.example.org"), IncludeHosts: rulesOf(".example.org",
			".example.net", "2001:db8::/32"),
		SURTs: rulesOf("+http://(", "-http://(org,example,www,)/private/"),
	}
	o := Options{
		FS: vfs.NewMem(1), Dir: "crawl", Sources: from,
		Seeds:     seedsOf{"http://www.example.org/", "not a seed"},
		Admission: admission.Options{MaxDepth: 3, MaxURL: 2048, StripParams: []string{"utm_*"}},
		Filters: filter.Options{Scope: "in_domain || depth < 2", Fetch: `query != "skip"`, Follow: "not nofollow",
			Parse: "size < 100", Store: "status == 200"},
		Traps: traps.Options{MaxPathRepeats: 3},
	}
	var errs [4]error
	o.Filters.Lists.ExcludeHosts, errs[0] = filter.CompileHosts(from.ExcludeHosts)
	o.Filters.Lists.IncludeHosts, errs[1] = filter.CompileHosts(from.IncludeHosts)
	o.Filters.Lists.SURTs, errs[2] = filter.CompileSURTs(from.SURTs)
	o.Filters.Lists.ExcludeExtensions, errs[3] = filter.CompileExtensions([]string{"jpg"})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// A bare host name is what it is as a seed: a URL with http.
func TestExplain_takesBareHostNamesAsSeedsDo(t *testing.T) {
	o := explained(t)
	o.Seeds = seedsOf{"www.example.org/start"}
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	e := x.Explain("www.example.org/a", 5)
	if e.Normal != "http://www.example.org/a" || e.URL != "www.example.org/a" {
		t.Errorf("%q, normal form %q", e.URL, e.Normal)
	}
	if e = x.Explain("http://www.example.org/a", 2); e.Verdict == Refused {
		t.Errorf("the seed does not count for the scope: %+v", e)
	}
}

// Settings of the order, and of what is done with the response, have a line each, and do not decide about admission.
func TestExplain_saysWhatComesAfterAdmission(t *testing.T) {
	focused := order.Options{Visit: order.Visit{Mode: order.ModeFocused}}
	for _, c := range []struct {
		order      order.Options
		depth      int
		says       []string
		formedPath string
	}{
		{order.Options{}, 1, []string{"--score undecided it depends on page and link: depth"}, "/b/p1/?a=1&b=2"},
		{order.Options{Visit: order.Visit{Mode: order.ModeBottomUp}}, 1, []string{
			"--visit passed bottom-up: class 14 of 16 by the folders of its path",
		}, "/b/p1/?a=1&b=2"},
		{order.Options{Visit: order.Visit{Mode: order.ModePerHost, Depth: 3}}, 2, []string{
			"--visit passed per-host:3: its depth decides about its class",
		}, "/b/p1/?a=1&b=2"},
		{order.Options{Visit: order.Visit{Mode: order.ModeRanked}}, 1, []string{
			"--visit passed ranked: the weight of its domain decides",
		}, "/b/p1/?a=1&b=2"},
		{focused, 1, []string{
			"--visit passed focused: its score decides about its class", "--stat undecided it depends on the response: n=1",
			"--hook undecided a program is asked: page=cat", "--mine passed its page leads to 2 URLs more, after all others " +
				"of the site: http://www.example.org/b/p1/?a=1&b=3 http://www.example.org/b/",
		}, "/b/p1/?a=1&b=2"},
		{focused, 0, []string{
			"--visit passed focused: class 1 of 16 by being a seed", "--score passed seeds have none, and come first",
		}, "/b/p1/?b=2&a=1"},
	} {
		o := explained(t)
		o.Order, o.Admission.NormalForm = c.order, urlx.Sorted
		o.Mining = mining.Options{Mine: []string{"siblings", "ancestors"}, MineMost: 2}
		o.Hook.Hooks, o.Filters.Stats, o.Filters.Score = []string{"page=cat"}, []string{"n=1"}, "depth"
		o.Filters.Follow, o.Admission.StripParams = "", nil
		x, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		e := x.Explain("http://www.example.org/b/p1/?b=2&a=1", c.depth)
		said := ""
		for _, check := range e.Checks {
			said += fmt.Sprintf("%s %s %s\n", check.Name, check.Answer, check.Says)
		}
		for _, says := range c.says {
			if !strings.Contains(said, says+"\n") {
				t.Errorf("%v, depth %d: %q is not in\n%s", c.order.Visit, c.depth, says, said)
			}
		}
		if e.Verdict != Admitted || e.Normal != "http://www.example.org"+c.formedPath {
			t.Errorf("%v, depth %d: %s by %s, %s", c.order.Visit, c.depth, e.Verdict, e.By, e.Normal)
		}
	}
}

func TestExplain_namesTheRuleThatDecides(t *testing.T) {
	o := explained(t)
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range []struct {
		url     string
		depth   int
		verdict Answer
		by      string
		says    string // somewhere in the checks
	}{
		{"HTTP://www.Example.org/a/../b", 0, Admitted, "", "normal form http://www.example.org/b"},
		{"http://", 0, Refused, "syntax", "host is not valid"},
		{"example", 0, Refused, "syntax", "relative URL"},
		{"mailto:a@b.example", 0, Refused, "scheme", "scheme is not http or https"},
		{"http://www.example.org/", 4, Refused, "--max-depth", "4, at most 3"},
		{"http://a.worse.example.org/", 0, Refused, "--exclude-hosts", ".worse.example.org (list.txt:2)"},
		{"http://www.example.com/", 0, Refused, "--include-hosts", "none of 3 rules fits"},
		{"http://[2001:db8::1]/", 0, Admitted, "", "2001:db8::/32 (list.txt:3)"},
		{"http://www.example.org/private/x", 0, Refused, "--surts", "-http://(org,example,www,)/private/ (list.txt:2)"},
		{"http://www.example.org/x.JPG", 0, Refused, "--exclude-extensions", "jpg"},
		{"http://www.example.net/", 2, Refused, "--scope", "in_domain || depth < 2"},
		{"http://www.example.org/a/b/a/b/a/b/a/b/x", 1, Refused, "--max-path-repeats", "at most 3 times"},
		{"http://www.example.org/x?utm_a=1", 0, Admitted, "", "seeds stay as they are"},
		{"http://www.example.org/x?utm_a=1&b", 1, Undecided, "--follow", "it becomes http://www.example.org/x?b"},
		{"http://www.example.org/?skip", 0, Refused, "--fetch", `query != "skip"`},
		{"http://www.example.org/x", 1, Undecided, "--follow", "it depends on page and link: not nofollow"},
	} {
		e := x.Explain(story.url, story.depth)
		if e.Verdict != story.verdict || e.By != story.by || !strings.Contains(fmt.Sprint(e.Checks), story.says) {
			t.Errorf("%s: %+v", story.url, e)
		}
	}
}

// Seeds come from the crawl directory too, which is only read; without any, a scope that is about them is undecided.
func TestExplain_knowsTheSeedsOfTheDirectory(t *testing.T) {
	fsys := vfs.NewMem(1)
	o := Options{
		FS: fsys, Dir: "crawl", Admission: admission.Options{MaxDepth: -1, MaxURL: 2048},
		Filters: filter.Options{Scope: "host"},
	}
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if e := x.Explain("http://a.test/", 1); e.Verdict != Undecided || e.By != "--scope" {
		t.Errorf("a link without seeds: %+v", e)
	}
	if e := x.Explain("http://a.test/", 0); e.Verdict != Admitted {
		t.Errorf("a URL that counts as a seed: %+v", e)
	}
	if err := fsys.MkdirAll("crawl/frontier"); err != nil {
		t.Fatal(err)
	}
	vfstest.WriteAll(t, fsys, "crawl/frontier/seeds", []byte("http://a.test/x\n"))
	if x, err = New(o); err != nil {
		t.Fatal(err)
	}
	if a, b := x.Explain("http://a.test/", 0), x.Explain("http://b.test/", 0); a.Verdict != Admitted ||
		b.Verdict != Refused {
		t.Errorf("with seeds: %+v, %+v", a, b)
	}
}

// What Explain says is what admission and the fetch workers do.
func TestExplain_agreesWithAdmission(t *testing.T) {
	o := explained(t)
	var err error
	o.Sources.HostRules = rulesOf("out.example.org exclude")
	if o.Filters.HostRules, err = filter.CompileHostRules(o.Sources.HostRules); err != nil {
		t.Fatal(err)
	}
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	rules := new(settings.HostRules)
	rules.Configure(o.Filters.HostRules)
	f := &admission.Frontier{
		HostRules: rules,
		Router:    cluster.Alone{}, Views: cluster.Alone{}.Views(),
		Rules: admission.Rules{Scope: x.filters.Scope, Lists: x.filters.Lists, MaxDepth: o.Admission.MaxDepth,
			MaxURL: o.Admission.MaxURL},
		Cache: fpcache.New(1<<16, 1), Counters: new(counters.Live),
	}
	live := new(settings.Live)
	live.Fetch.Store(x.filters.Fetch)
	live.Lists.Store(x.filters.Lists)
	r := rand.New(rand.NewPCG(9, 9))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	met := map[string]int{}
	checks := map[admission.Refusal]string{
		admission.TooDeep: "--max-depth", admission.TooLong: "--max-url", admission.ExcludedByRule: "--host-rules",
		admission.OutOfScope: "--scope",
	}
	for range 5000 {
		raw := pick("http", "https") + "://" + pick("", "www.", "bad.", "a.worse.", "out.") +
			pick("example.org", "example.org", "example.net", "example.com") + "/" +
			pick("", "private/", "a/a/a/a/") + pick("", "x", "x.jpg", "y.html") +
			pick("", "?skip", "?q", "?"+strings.Repeat("x", 2048))
		it := queued.URL{Depth: r.IntN(6)}
		it.Seed = it.Depth == 0
		e := x.Explain(raw, it.Depth)
		url, err := urlx.Normalize(nil, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		var d admission.Scratch
		why := f.Judge(&d, url, &it)
		_, path := urlx.Split(url)
		it.Rest = path
		goes := why == admission.Belongs && !traps.RepeatsFolders(url, &it, o.Traps.MaxPathRepeats) && live.Passes(url, &it)
		if goes != (e.Verdict != Refused) {
			t.Fatalf("%s at depth %d: %v, explained %+v", raw, it.Depth, why, e)
		}
		if by := checks[why]; by != "" && e.By != by {
			t.Fatalf("%s at depth %d: %v, explained by %s", raw, it.Depth, why, e.By)
		}
		met[e.By]++
	}
	if len(met) < 9 {
		t.Errorf("too few kinds of verdicts: %v", met)
	}
}
