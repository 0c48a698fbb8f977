package filter

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func fetchFilter(t testing.TB, text string, s *Seeds) *Fetch {
	t.Helper()
	f, err := CompileFetch(text, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFetch(t *testing.T) {
	s := seeds(t, "http://example.org/a/")
	url := []byte("https://www.example.org:8443/x/y.html?q=1")
	for text, want := range map[string]bool{
		"all": true, "": true, "none": false, "depth == 2 and hops == 1 and try == 3 and not seed": true,
		`site == "https://www.example.org:8443" && scheme == "https" && port == 8443`:                             true,
		`domain == "example.org" && in_domain && !in_host && !in_prefix && path == "/x/y.html" && query == "q=1"`: true,
		`$env.domain == "example.org"`: true, `host matches "^www[0-9]*\\."`: true, `host in ["a", "www.example.org"]`: true,
		`let h = host; h == "x"`: false, `via == "http://via.test/"`: true,
	} {
		f := fetchFilter(t, text, s)
		if got := f.Allows(url, Way{Depth: 2, Hops: 1}, 3, []byte("http://via.test/")); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	bad := fetchFilter(t, `split(path, "/")[9] == "x"`, s)
	if bad.Allows(url, Way{}, 0, nil) || bad.Errors() != 1 {
		t.Error("what cannot be evaluated is asked for, or not counted")
	}
}

func TestParse(t *testing.T) {
	r := &Response{Status: 200, ContentType: []byte(" Text/HTML ; charset=x"), Size: 12, Truncated: true}
	for text, want := range map[string]bool{
		"all": true, "none": false, "depth > 0": false,
		`content_type == "text/html" and status == 200 and size < 100 and truncated and seed`: true,
		`1 % (size - 12) == 0`: true, // not evaluated
	} {
		f, err := CompileParse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Reads([]byte("http://x.org/"), Way{}, r); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestFollow(t *testing.T) {
	page := []byte("http://www.example.org/dir/")
	r := &Response{Status: 203, ContentType: []byte("text/html")}
	for _, c := range []struct {
		text string
		link Link
		want bool
	}{
		{"all", Link{}, true},
		{"none", Link{}, false},
		{`kind == "image" and nofollow and depth == 3`, Link{Kind: "image", NoFollow: true, Way: Way{Depth: 3}}, true},
		{`via == "http://www.example.org/dir/" and via_host == "www.example.org" and via_domain == "example.org"`, Link{},
			true},
		{`status == 203 and content_type == "text/html"`, Link{}, true},
		{"same_host", Link{}, false},
		{"same_domain", Link{}, true},
		{"same_domain", Link{URL: []byte("http://example.com/")}, false},
		{"same_host", Link{URL: []byte("https://www.example.org/other")}, true},
		{`kind == "redirect" and hops == 1`, Link{Kind: "redirect", Way: Way{Hops: 1}}, true},
		{`url[1000:][0:1] == split(url, "/")[77]`, Link{}, false}, // not evaluated
	} {
		f, err := CompileFollow(c.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.link.URL == nil {
			c.link.URL = []byte("http://a.example.org/x")
		}
		var via Via
		f.From(&via, page, r)
		if got := f.Follows(&via, c.link); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

// Each filter point has the names that are known there, and no others.
func TestNamesAtTheFivePoints(t *testing.T) {
	compile := map[string]func(text string) error{
		"scope":  func(text string) error { _, err := CompileScope(text, nil); return err },
		"fetch":  func(text string) error { _, err := CompileFetch(text, nil); return err },
		"parse":  func(text string) error { _, err := CompileParse(text, nil); return err },
		"follow": func(text string) error { _, err := CompileFollow(text, nil); return err },
		"store":  func(text string) error { _, err := CompileStore(text, nil); return err },
	}
	for name, at := range map[string]string{
		`host == ""`: "scope fetch parse follow store", "in_domain": "scope fetch parse follow store",
		"seed":     "scope fetch parse follow store",
		"try == 0": "fetch", "nofollow": "follow", "same_host": "follow", `via == ""`: "fetch follow store",
		"status == 0": "parse follow store", "size == 0": "parse store",
		"truncated": "parse store", "duplicate": "store", "urlFacts": "", "URL": "", "now() == now()": "",
	} {
		for point, f := range compile {
			err := f(name)
			if known := slices.Contains(strings.Fields(at), point); known != (err == nil) ||
				!known && !errors.Is(err, ErrExpression) {
				t.Errorf("%s at %s: %v", name, point, err)
			}
		}
	}
}

func TestExtensions(t *testing.T) {
	e, err := CompileExtensions([]string{"jpg", ".PNG", " mp4 "})
	if err != nil || e.Len() != 3 {
		t.Fatal(err, e.Len())
	}
	l := &Lists{ExcludeExtensions: e}
	for url, want := range map[string]List{
		"http://x.org/a.jpg": ExcludeExtensions, "http://x.org/a/b.c.JPG?q=1": ExcludeExtensions,
		"http://x.org/.png":   ExcludeExtensions,
		"http://x.org/a.jpg/": NoList, "http://x.org/jpg": NoList, "http://x.jpg/": NoList,
		"http://x.org/a?b.jpg": NoList, "http://x.org/a.": NoList,
		"http://x.org/a.jpgjpgjpgjpgjpgjpg": NoList, "http://x.org/": NoList, "ftp://x.org/a.jpg": NoList,
	} {
		if got := l.Refuses([]byte(url)); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
	if Extension([]byte("http://x.org/A.JpG?x")) != "jpg" || Extension([]byte("http://x.org/a")) != "" {
		t.Error("Extension")
	}
	_, err = CompileExtensions([]string{"tar.gz", "", "a/b", "ok", "abcdefghijklmnopqrst"})
	if !errors.Is(err, ErrExtension) || len(err.(interface{ Unwrap() []error }).Unwrap()) != 4 {
		t.Errorf("not all faults: %v", err)
	}
}

func TestTheFirstListThatRefusesIsNamed(t *testing.T) {
	exclude, err := CompileHosts(rules(t, ".bad.org"))
	if err != nil {
		t.Fatal(err)
	}
	include, err := CompileHosts(rules(t, ".org"))
	if err != nil {
		t.Fatal(err)
	}
	prefixes, _ := surts(t, "-http://(org,good,)/private/")
	l := &Lists{ExcludeHosts: exclude, IncludeHosts: include, SURTs: prefixes}
	for url, want := range map[string]List{
		"http://a.bad.org/private/": ExcludeHosts, "http://good.com/": IncludeHosts,
		"http://good.org/private/x": SURTPrefixes, "http://good.org/x": NoList,
	} {
		if got := l.Refuses([]byte(url)); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
	if l.IsEmpty() || !new(Lists).IsEmpty() {
		t.Error("None")
	}
}

// Facts that the expression does not use are not computed.
func TestOnlyWhatIsAskedForIsWorkedOut(t *testing.T) {
	f := fetchFilter(t, "depth > 1", nil)
	if f.need != (urlNeeds{}) {
		t.Errorf("%+v", f.need)
	}
	if f = fetchFilter(t, "$env != nil", nil); f.need != (urlNeeds{true, true, true, true}) {
		t.Errorf("%+v", f.need)
	}
}

func BenchmarkFilters(b *testing.B) {
	s := manySeeds(b)
	url := []byte("https://x.site77.co.uk/a/b/d?q")
	for _, text := range []string{"all", "depth <= 5", "in_domain", `host endsWith ".uk"`,
		`not (path matches "^/cal/[0-9]+")`, `domain == "site77.co.uk" && depth <= 5`} {
		b.Run("scope/"+text, func(b *testing.B) {
			f := scope(b, text, s)
			b.ReportAllocs()
			for b.Loop() {
				f.Admits(url, Way{Depth: 1})
			}
		})
	}
	for _, text := range []string{"all", "depth <= 5"} {
		b.Run("fetch/"+text, func(b *testing.B) {
			f := fetchFilter(b, text, s)
			b.ReportAllocs()
			for b.Loop() {
				f.Allows(url, Way{Depth: 1}, 0, nil)
			}
		})
	}
	for _, text := range []string{"all", "not nofollow", "same_host", `same_domain && kind in ["anchor", "area"]`} {
		b.Run("follow/"+text, func(b *testing.B) {
			f, err := CompileFollow(text, s)
			if err != nil {
				b.Fatal(err)
			}
			var via Via
			f.From(&via, []byte("https://y.site77.co.uk/"), &Response{Status: 200})
			link := Link{URL: url, Kind: "anchor", Way: Way{Depth: 1}}
			b.ReportAllocs()
			for b.Loop() {
				f.Follows(&via, link)
			}
		})
	}
	r := &Response{Status: 200, ContentType: []byte("text/html; charset=utf-8"), Size: 1000}
	b.Run("parse/content_type", func(b *testing.B) {
		f, err := CompileParse(`content_type == "text/html"`, s)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			f.Reads(url, Way{}, r)
		}
	})
	b.Run("store/status", func(b *testing.B) {
		f, err := CompileStore(`status == 200 and size < 1000000`, s)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			f.Keeps(url, Way{}, r)
		}
	})
}
