package links

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
)

// What was dropped is dropped again under another --follow, and so are scores given. Nothing is if the page has other
// references. Links of early hints are dropped, too, and are still those that the journal has.
func TestFinder_judgesTheSameLinksAgain(t *testing.T) {
	const body = `<a href=/a>one</a><img src=/b><a href=mailto:x>m</a><a href=/no>n</a><a href=/c>two <b>words</b></a>`
	url := []byte("http://a.test/")
	scan := func(l *Finder, hints, more string) {
		p, ok := fetch.Stored(url, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+body+more))
		if !ok {
			t.Fatal("no page")
		}
		if hints != "" {
			p.Interim = []byte("HTTP/1.1 103 Early Hints\r\nLink: " + hints + "\r\n\r\n")
		}
		if l.Open(Page{URL: url, Page: p, Size: p.PayloadLen}) {
			l.Scan(url, p, queued.Called{})
			l.Head(url, p)
		}
		l.EarlyHints(url, p)
	}
	list := func(links []byte) string {
		var all []string
		err := journal.EachScored(links, func(_ parse.Kind, score int, url []byte) {
			if all = append(all, string(url[len("http://a.test"):])); score > 0 {
				all[len(all)-1] += fmt.Sprint("=", score)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, " ")
	}
	l := NewFinder(Options{Judged: true})
	scan(l, "</x.css>; rel=preload, </y.css>; rel=preload", "")
	var asked []string
	l.EachWithText(func(kind parse.Kind, url, text []byte) {
		asked = append(asked, fmt.Sprintf("%v %s %s", kind, url[len("http://a.test"):], text))
	})
	if got := strings.Join(asked, ", "); got != "anchor /a one, image /b , anchor /no n, anchor /c two words, "+
		"resource /x.css , resource /y.css " {
		t.Error(got)
	}
	if l.Rescore([]int{0, -1, 0, 0, 0, 0, 0}); l.HookScores() != "" {
		t.Errorf("%q, and nothing has changed", l.HookScores())
	}
	l.Rescore([]int{7, 15, -1, 1, 2, 3})
	if got := list(l.EarlyLinks()); got != "/x.css=2 /y.css=3" {
		t.Errorf("early hints with scores: %s", got)
	}
	l.Drop([]int{1, 3, 4})
	if got, early := list(l.Links), list(l.EarlyLinks()); got != "/a=7 /no /y.css=3" || early != "/y.css=3" ||
		l.HookDrops() != "4 Cg==" || l.Refused.Hook != 3 || l.HookScores() != "4 9xA=" {
		t.Errorf("%s; %s; %q, %+v, %q", got, early, l.HookDrops(), l.Refused, l.HookScores())
	}
	f, err := filter.Compile(&filter.Options{Follow: `url != "http://a.test/no"`}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	again := NewFinder(Options{By: Filters{Follow: f.Follow}})
	for _, c := range []struct{ field, scores, more, want string }{
		{"4 Cg==", "4 9xA=", "", "/a=7"},
		{"4 Cg==", "4 9xA=", "<a href=/d>", "/a /b /c /d"},
		{"", "4 9xA=", "", "/a=7 /b=15 /c=1"},
		{"5 Cg==", "", "", "/a /b /c"},
		{"4 Cg", "4 9w==", "", "/a /b /c"},
		{"4 CgAA", "4 9xA", "", "/a /b /c"},
	} {
		scan(again, "", c.more)
		again.JudgeAgain(c.field, c.scores)
		if got := list(again.Links); got != c.want {
			t.Errorf("%q with %q: %s, want %s", c.field, c.more, got, c.want)
		}
	}
}

// A form changes links, and what the page has is kept. A redirect to what would be its own URL stays.
func TestFinder_keepsTheSpellingsOfLinks(t *testing.T) {
	base := []byte("http://a.test/")
	list := func(l *Finder) string {
		var all []string
		if err := journal.EachLink(l.Links, func(_ parse.Kind, url []byte) { all = append(all, string(url)) }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, " ")
	}
	const both = "http://a.test/p?a&b http://a.test/p?b&a\n"
	for form, want := range map[urlx.Form][2]string{
		urlx.WHATWG:  {"http://a.test/p?b&a http://a.test/p?a&b http://a.test/q", ""},
		urlx.Sorted:  {"http://a.test/p?a&b http://a.test/p?a&b http://a.test/q", both},
		urlx.Archive: {"http://a.test/p?a&b http://a.test/p?a&b http://a.test/q", both},
	} {
		l := NewFinder(Options{Strip: new(urlx.Params).As(form)})
		l.Reset()
		l.Budget.Open(1000, 1000)
		for _, ref := range []string{"p?b&a", "p?a&b", "q"} {
			l.Resolve(base, []byte(ref), parse.Anchor, false)
		}
		if got := list(l); got != want[0] || string(l.Spellings()) != want[1] {
			t.Errorf("%v: %s, %q", form, got, l.Spellings())
		}
		l.Redirect(base, []byte("/index.html"))
		if got := list(l); got != "http://a.test/index.html" || len(l.Spellings()) > 0 {
			t.Errorf("%v: %s, %q", form, got, l.Spellings())
		}
	}
}
