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

// What servers send in place of a media type costs no page its links: the last valid type of all fields counts, and
// without one the bytes tell.
func TestIdentify_whatServersSend(t *testing.T) {
	const page = "<!doctype html><a href=/x>x</a>"
	for _, c := range []struct {
		fields, body, media string
		isSniffed           bool
		links               int
	}{
		{"Content-Type: text/html", page, "text/html", false, 1},
		{"", page, "text/html", true, 1},
		{"Content-Type:", page, "text/html", true, 1},
		{"Content-Type: html", page, "text/html", true, 1},
		{"Content-Type: text/html charset=utf-8", page, "text/html", true, 1},
		{"Content-Type: text/html; charset=utf-8,text/html", page, "text/html;charset=utf-8", false, 1},
		{"Content-Type: application/octet-stream|Content-Type: text/html", page, "text/html", false, 1},
		{"Content-Type: text/html|Content-Type: image/png", page, "image/png", false, 0},
		{"Content-Type: text/html|Content-Type:", page, "text/html", false, 1},
		{"Content-Type: */*", page, "text/html", true, 1},
		{"Content-Type: unknown/unknown", page, "text/html", true, 1},
		{"Content-Type: text/css charset=utf-8", "a{background:url(/x)}", "text/css", true, 1},
		{"Content-Type: nonsense", "plain text", "text/plain", true, 0},
		{"Content-Type: nonsense", "\x89PNG\r\n\x1a\n", "image/png", true, 0},
		{"", "<?xml version='1.0'?><rss><channel><link>http://a.test/x</link></channel></rss>", "text/xml", true, 1},
	} {
		head := strings.ReplaceAll(c.fields, "|", "\r\n")
		if head != "" {
			head += "\r\n"
		}
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head, len(c.body), c.body)
		p, _ := fetch.Stored([]byte("http://a.test/"), []byte(answer))
		l := NewFinder(Options{})
		l.Open(Page{URL: p.URL, Page: p})
		l.Scan(p.URL, p, queued.Called{})
		if got := l.Type; string(got.Media) != c.media || got.IsSniffed != c.isSniffed || countLinks(t, l) != c.links {
			t.Errorf("%q %.20q: %q, sniffed %v, %d links; want %q, %v, %d", c.fields, c.body, got.Media, got.IsSniffed,
				countLinks(t, l), c.media, c.isSniffed, c.links)
		}
	}
}

// countLinks counts the links that were found.
func countLinks(t *testing.T, l *Finder) (n int) {
	t.Helper()
	if err := journal.EachLink(l.Links, func(parse.Kind, []byte) { n++ }); err != nil {
		t.Fatal(err)
	}
	return n
}
