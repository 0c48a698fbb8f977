package links

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// headLinks finds the links of a response as a parse worker does: those of the body, of the head, and of early hints.
func headLinks(t *testing.T, l *Finder, response string) string {
	t.Helper()
	url := []byte("http://a.test/dir/page")
	p, ok := fetch.Stored(url, []byte(response))
	if !ok {
		t.Fatalf("%q is no response", response)
	}
	l.Scan(url, p, queued.Called{})
	l.Head(url, p)
	l.EarlyHints(url, p)
	var found []string
	err := journal.EachLink(l.Links, func(k parse.Kind, url []byte) {
		found = append(found, k.String()+" "+strings.TrimPrefix(string(url), "http://a.test"))
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// The head of a response names resources as elements of a page do, whatever the media type is.
func TestHead_namesResources(t *testing.T) {
	const ok, early = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 103 Early Hints\r\n"
	for _, c := range []struct{ what, response, want string }{
		{"a PDF", ok + "Content-Type: application/pdf\r\nLink: </landing>; rel=canonical\r\n\r\n%PDF-1.4", "link /landing"},
		{"data", ok + "Content-Type: application/json\r\nLINK: <?2>; rel=next, <a.css>;rel=preload\r\n\r\n[1]",
			"link /dir/page?2 resource /dir/a.css"},
		{"two lines", ok + "Link: </a>\r\nX: y\r\nlink: </b>\r\n\r\n", "link /a link /b"},
		{"a folded line", ok + "Link: </a>;\r\n rel=next,\r\n </b>\r\n\r\n", "link /a link /b"},
		{"no body", "HTTP/1.1 204 No Content\r\nLink: </a>; rel=next\r\n\r\n", "link /a"},
		{"a base does not count", ok + "Content-Type: text/html\r\nLink: <x>\r\n\r\n<base href=/b/><a href=y>",
			"anchor /b/y link /dir/x"},
		{"Content-Location", ok + "Content-Location: page.en.html\r\n\r\nx", "link /dir/page.en.html"},
		{"Refresh", ok + "Refresh: 0; url=/a\r\nRefresh: 0; url=/b\r\n\r\nx", "refresh /a"},
		{"early hints", early + "Link: </a.css>; rel=preload\r\n\r\n" + ok + "Link: </b>\r\n\r\nx",
			"link /b resource /a.css"},
		{"twice", early + "Link: </a.css>; rel=preload\r\n\r\n" + early + "link: </b.js>;rel=preload\r\n\r\n" + ok + "\r\nx",
			"resource /a.css resource /b.js"},
		{"another interim response", "HTTP/1.1 102 Processing\r\nLink: </a>\r\n\r\n" + ok + "\r\nx", ""},
		{"other fields", ok + "Linked: </a>\r\nX-Link: </b>\r\n\r\nx", ""},
		{"other schemes", ok + "Link: <mailto:a@b>; rel=author, <android-app://x>; rel=alternate\r\n\r\nx", ""},
	} {
		l := NewFinder(Options{})
		if got := headLinks(t, l, c.response); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		// The archive does not have these links, so the journal must.
		if has := len(l.EarlyLinks()) > 0; has != strings.Contains(c.response, early) {
			t.Errorf("%s: links of early hints: %v", c.what, has)
		}
	}
}

func TestHead_obeysNoFollow(t *testing.T) {
	l := NewFinder(Options{Nofollow: true})
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLink: </a>; rel=\"next nofollow\", </b>; rel=next\r\n\r\n"
	if got := headLinks(t, l, head+"<p>"); got != "link /b" {
		t.Error(got)
	}
	if got := headLinks(t, l, head+"<meta name=robots content=nofollow>"); got != "" {
		t.Error(got)
	}
}

// One response may have a thousand such links, and they have room as the links of a page have.
func TestHead_hasABoundedNumberOfLinks(t *testing.T) {
	l := NewFinder(Options{})
	var value strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&value, "</%d>,", i)
	}
	headLinks(t, l, "HTTP/1.1 200 OK\r\nLink: "+value.String()+"\r\n\r\n")
	n := 0
	if err := journal.EachLink(l.Links, func(parse.Kind, []byte) { n++ }); err != nil {
		t.Fatal(err)
	}
	if n != fieldLinksMost || l.Dropped != 2000 {
		t.Errorf("%d links, %d dropped", n, l.Dropped)
	}
	long := "<" + strings.Repeat("a", 2000) + ">,"
	headLinks(t, l, "HTTP/1.1 200 OK\r\nLink: "+strings.Repeat(long, 100)+"\r\n\r\n")
	if l.Budget.LinksDropped == 0 || len(l.Links) > linkRoomBase+4000 {
		t.Errorf("%d bytes of links", len(l.Links))
	}
}

// BenchmarkHead looks at a usual head, which names nothing.
func BenchmarkHead(b *testing.B) {
	url := []byte("http://a.test/dir/page")
	p, _ := fetch.Stored(url, []byte("HTTP/1.1 200 OK\r\nDate: Sat, 28 Nov 2026 04:05:06 GMT\r\nServer: nginx\r\n"+
		"Content-Type: text/html; charset=utf-8\r\nConnection: keep-alive\r\nVary: Accept-Encoding\r\n"+
		"X-Frame-Options: DENY\r\n"+
		"Strict-Transport-Security: max-age=31536000\r\nCache-Control: max-age=600\r\nETag: W/\"5f7b\"\r\n\r\n"))
	l := NewFinder(Options{})
	b.ReportAllocs()
	for b.Loop() {
		l.Head(url, p)
	}
}
