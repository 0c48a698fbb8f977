package links

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// finderWith has a parse and a follow filter; empty texts are none.
func finderWith(t *testing.T, parse, follow string) *Finder {
	t.Helper()
	f, err := filter.Compile(&filter.Options{Parse: parse, Follow: follow}, new(filter.Seeds), false)
	if err != nil {
		t.Fatal(err)
	}
	return NewFinder(Options{By: Filters{Parse: f.Parse, Follow: f.Follow}})
}

func found(t *testing.T, l *Finder) string {
	t.Helper()
	var urls []string
	if err := journal.EachLink(l.Links, func(_ parse.Kind, url []byte) { urls = append(urls, string(url)) }); err != nil {
		t.Fatal(err)
	}
	return strings.Join(urls, " ")
}

func TestLinkFinderAsksTheFilters(t *testing.T) {
	url := []byte("http://www.example.org/dir/")
	answer := func(head, body string) *fetch.Page {
		p, ok := fetch.Stored(url, []byte("HTTP/1.1 "+head+"\r\n\r\n"+body))
		if !ok {
			t.Fatal(head)
		}
		return p
	}
	page := answer(
		"200 OK\r\nContent-Type: text/html",
		`<a href=a><a href=b rel=nofollow><img src=c><a href=http://other.example/d><a href=http://a.example.org/e><a `+
			`href=http://[>`,
	)
	for _, story := range []struct {
		parse, follow string
		depth         int
		links         string
		unfollowed    int
	}{
		{"", "", 0, "http://www.example.org/dir/a http://www.example.org/dir/b http://www.example.org/dir/c " +
			"http://other.example/d http://a.example.org/e", 0},
		{"", `kind == "image"`, 0, "http://www.example.org/dir/c", 4},
		{"", "nofollow", 0, "http://www.example.org/dir/b", 4},
		{"", "not same_host", 0, "http://other.example/d http://a.example.org/e", 3},
		{"", "same_domain and not same_host and depth == 3", 2, "http://a.example.org/e", 4},
		{"", `via_host == "www.example.org" and via endsWith "/dir/" and status == 200 and content_type == "text/html" ` +
			`and path == "/d"`, 0, "http://other.example/d", 4},
		{`status == 200 and depth == 1 and content_type == "text/html"`, `path == "/d"`, 1, "http://other.example/d", 4},
		{`content_type != "text/html"`, "", 1, "", 0},
		{"none", "", 0, "", 0},
		{"", "none", 0, "", 5},
	} {
		l := finderWith(t, story.parse, story.follow)
		if l.Open(Page{URL: url, Page: page, Way: filter.Way{Depth: story.depth}, Size: page.PayloadLen}) {
			l.Scan(url, page, queued.Called{})
		}
		if got := found(t, l); got != story.links || l.Unfollowed != story.unfollowed {
			t.Errorf("parse %s, follow %s: %s, %d unfollowed", story.parse, story.follow, got, l.Unfollowed)
		}
		if parsed := story.parse != "none" && !strings.Contains(story.parse,
			"!="); parsed != (l.Refused == Refused{Syntax: 1}) {
			t.Errorf("parse %s: %+v refused", story.parse, l.Refused)
		}
	}
	moved := answer("301 Moved\r\nLocation: /new", "")
	for follow, want := range map[string]string{
		"": "http://www.example.org/new", `kind == "anchor"`: "",
		`kind == "redirect" and hops == 3 and depth == 2 and status == 301`: "http://www.example.org/new",
	} {
		l := finderWith(t, "none", follow) // a redirect is no page that is searched
		l.Open(Page{URL: url, Page: moved, Way: filter.Way{Depth: 2, Hops: 2}})
		l.Redirect(url, moved.Head().Location())
		if got := found(t, l); got != want || (l.Unfollowed == 1) != (want == "") {
			t.Errorf("redirect by %s: %s, %d unfollowed", follow, got, l.Unfollowed)
		}
		if again := l.Again(); again.O.By != l.O.By {
			t.Error("another one has other filters")
		}
	}
}

// A page with twenty links, from its bytes to their normal forms.
func BenchmarkLinkFinder(b *testing.B) {
	var body strings.Builder
	for i := range 20 {
		fmt.Fprintf(&body, "<p>some words here and more of them</p><a href=\"/dir/page-%d.html\">x</a>", i)
	}
	url := []byte("http://www.example.org/dir/")
	p, ok := fetch.Stored(url, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+body.String()))
	if !ok {
		b.Fatal("no page")
	}
	for _, follow := range []string{"all", "not nofollow", `same_domain && kind in ["anchor", "area"]`} {
		b.Run(follow, func(b *testing.B) {
			f, err := filter.Compile(&filter.Options{Follow: follow}, new(filter.Seeds), false)
			if err != nil {
				b.Fatal(err)
			}
			l := NewFinder(Options{By: Filters{Parse: f.Parse, Follow: f.Follow}})
			b.ReportAllocs()
			for b.Loop() {
				if l.Open(Page{URL: url, Page: p, Size: p.PayloadLen}) {
					l.Scan(url, p, queued.Called{})
				}
			}
		})
	}
}

// What a link may be is listed for people who write expressions.
func TestEveryKindIsInTheDocumentation(t *testing.T) {
	for _, name := range []string{"../../../docs/filters.md", "../../page/filter/doc.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, kinds, _ := strings.Cut(string(text), "anchor, area, link,")
		kinds, _, _ = strings.Cut(kinds, "redirect")
		words := strings.FieldsFunc(kinds+"redirect anchor area link", func(r rune) bool { return r < 'a' || r > 'z' })
		for k := range parse.KindCount {
			if kind := parse.Kind(k); kind != parse.Robots && !slices.Contains(words, kind.String()) {
				t.Errorf("%s does not know %s", name, kind)
			}
		}
	}
}
