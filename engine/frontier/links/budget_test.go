package links

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
)

// answer is a response with a body, packed if encoding is gzip.
func answer(tb testing.TB, url, contentType, encoding string, body []byte) *fetch.Page {
	tb.Helper()
	p, ok := perhapsAnswer(tb, url, contentType, encoding, body)
	if !ok {
		tb.Fatal("no response")
	}
	return p
}

// perhapsAnswer is answer for a media type that may be no header field.
func perhapsAnswer(tb testing.TB, url, contentType, encoding string, body []byte) (*fetch.Page, bool) {
	tb.Helper()
	head := "HTTP/1.1 200 OK\r\nContent-Type: " + contentType + "\r\n"
	if encoding == "gzip" {
		head += "Content-Encoding: gzip\r\n"
		body = zipped(tb, body)
	}
	return fetch.Stored([]byte(url), append([]byte(head+"\r\n"), body...))
}

func zipped(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// wantLinkBudget holds what was made of a page against the budget: links are at most as long together as the budget
// says.
func wantLinkBudget(tb testing.TB, l *Finder, raw, searched int64) {
	tb.Helper()
	most := linkRoomBase + min(linkRoomBody*searched, linkRoomRaw*raw)
	if most > linkRoomMax {
		most = linkRoomMax
	}
	if made := l.Budget.whole - l.Budget.room; made > most+urlx.LengthMax {
		tb.Errorf("%d bytes of URLs are made of a page of %d bytes, %d on the wire: at most %d", made, searched, raw,
			most)
	}
	kept := 0
	if err := journal.EachLink(l.Links, func(_ parse.Kind, url []byte) { kept += len(url) }); err != nil ||
		int64(kept) > most+urlx.LengthMax {
		tb.Errorf("%d bytes of URLs are kept of a page of %d bytes, %d on the wire: at most %d (%v)", kept, searched,
			raw, most, err)
	}
}

// <base href> of 8 KB and 20,000 links of a few bytes: a response of 45 KB, packed, became 160 MB of links. Each link
// that is not taken is counted.
func TestHostile_P13_theLinksOfAPageAreBoundedInBytes(t *testing.T) {
	const links = 20_000
	for _, base := range []int{100, 1900, 8000} {
		for _, encoding := range []string{"", "gzip"} {
			var body strings.Builder
			body.WriteString("<base href='/" + strings.Repeat("b", base-20) + "/'>")
			for i := range links {
				fmt.Fprintf(&body, "<a href=%d>", i)
			}
			p := answer(t, "http://a.test/dir/page", "text/html", encoding, []byte(body.String()))
			l := NewFinder(Options{Longest: 2048})
			l.Scan(p.URL, p, queued.Called{})
			wantLinkBudget(t, l, p.PayloadLen, int64(body.Len()))
			kept := 0
			if err := journal.EachLink(l.Links, func(parse.Kind, []byte) { kept++ }); err != nil {
				t.Fatal(err)
			}
			if sum := kept + l.Budget.LinksDropped + l.Refused.Long; sum != links {
				t.Errorf("base of %d: %d links are kept, %d found no room, %d are too long: want %d together", base,
					kept, l.Budget.LinksDropped, l.Refused.Long, links)
			}
			if base == 100 && encoding == "" && kept != links {
				t.Errorf("an ordinary page loses %d of %d links", links-kept, links)
			}
			t.Logf(
				"base of %d bytes, encoding %q: %d bytes on the wire, %d unpacked, %d bytes of links kept, %d of %d links",
				base, encoding, p.PayloadLen, body.Len(), len(l.Links), kept, links)
		}
	}
}

// A robots.txt names as many sitemaps as fit into it, each relative to its own long URL.
func TestHostile_P13_theSitemapsOfARobotsFileAreBoundedInBytes(t *testing.T) {
	url := "http://a.test/" + strings.Repeat("r", 2000) + "/robots.txt"
	body := strings.Repeat("Sitemap: s\n", 40_000)
	p := answer(t, url, "text/plain", "gzip", []byte(body))
	l := NewFinder(Options{Sitemaps: true})
	l.SitemapsOf(p.URL, p, p.Outcome, filter.Way{})
	wantLinkBudget(t, l, p.PayloadLen, int64(len(body)))
	if l.Budget.LinksDropped == 0 {
		t.Error("none is counted as dropped")
	}
}

// A packed sitemap may name what the protocol lets it name; what it unpacks to is bounded by its size, and so are its
// links.
func TestHostile_P13_aPackedSitemapIsBoundedByItsSize(t *testing.T) {
	var honest strings.Builder
	honest.WriteString("<?xml version='1.0'?><urlset>")
	for i := range 50_000 {
		fmt.Fprintf(&honest, "<url><loc>http://a.test/articles/2024/%x/an-article-of-some-length-%d.html</loc></url>",
			uint32(i)*2654435761, i)
	}
	l := NewFinder(Options{Sitemaps: true})
	p := answer(t, "http://a.test/s.xml.gz", "application/gzip", "", zipped(t, []byte(honest.String())))
	l.Scan(p.URL, p, queued.Called{})
	kept := 0
	if err := journal.EachLink(l.Links, func(parse.Kind, []byte) { kept++ }); err != nil || kept != 50_000 {
		t.Errorf("an honest sitemap loses %d of its links, %d for want of room (%v)", 50_000-kept, l.Budget.LinksDropped, err)
	}
	bomb := "<?xml version='1.0'?><urlset>" + strings.Repeat(" ",
		40<<20) + "<url><loc>http://a.test/end</loc></url></urlset>"
	p = answer(t, "http://a.test/s.xml.gz", "application/gzip", "", zipped(t, []byte(bomb)))
	l.Scan(p.URL, p, queued.Called{})
	if n := l.textLists.reader.Unpacked(); n > packedFree+packedRatio*p.PayloadLen || len(l.Links) > 0 {
		t.Errorf("%d bytes are unpacked of %d", n, p.PayloadLen)
	}
	p = answer(t, "http://a.test/s.xml.gz", "application/gzip", "gzip", zipped(t, []byte(bomb)))
	l.Scan(p.URL, p, queued.Called{})
	if len(l.Links) > 0 || l.Encoding != coding.Layers {
		t.Errorf("a bomb in a bomb is unpacked twice: %v", l.Encoding)
	}
}

// FuzzLinkBudget finds the links of any page under any URL: what is made of it is within the budget, and each reference
// has its outcome.
func FuzzLinkBudget(f *testing.F) {
	f.Add([]byte("<base href=/x/><a href=1><a href=2>"), "text/html", "http://a.test/", true)
	f.Add([]byte("<urlset><url><loc>http://a.test/</loc></url></urlset>"), "text/xml", "http://a.test/s.xml", false)
	f.Add(zipped(f, []byte("http://a.test/1\nhttp://a.test/2\n")), "application/gzip", "http://a.test/s.txt.gz", false)
	f.Fuzz(func(t *testing.T, body []byte, contentType, url string, packed bool) {
		own, err := urlx.Normalize(nil, []byte(url))
		if err != nil || strings.ContainsAny(contentType, "\r\n") {
			return
		}
		encoding := ""
		if packed {
			encoding = "gzip"
		}
		p, ok := perhapsAnswer(t, string(own), contentType, encoding, body)
		if !ok {
			return
		}
		l := NewFinder(Options{Sitemaps: true, Forms: true, Longest: 2048})
		l.Scan(own, p, queued.Called{})
		searched := int64(len(body))
		if l.textLists.reader != nil {
			searched = max(searched, l.textLists.reader.Unpacked())
		}
		wantLinkBudget(t, l, p.PayloadLen, searched)
		l.SitemapsOf(own, p, p.Outcome, filter.Way{})
		wantLinkBudget(t, l, p.PayloadLen, int64(len(body)))
	})
}

// The names of a page's links cost IDNA a bounded time, and an honest page of as many links as one may have, each to
// another name beyond ASCII, loses none.
func TestLinkBudget_namesBeyondASCII(t *testing.T) {
	page := func(links, labels, letters int) *Finder {
		body := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n")
		for link := range links {
			body = append(body, "<a href=//"...)
			for label := range labels {
				for i := range letters {
					body = utf8.AppendRune(body, rune(0x4e00+(i*37+label*1000+link)%8000))
				}
				body = append(body, '.')
			}
			body = append(body, "test>"...)
		}
		p, ok := fetch.Stored(nastyURL(), body)
		if !ok {
			t.Fatal("no response")
		}
		l := NewFinder(Options{Longest: 2048})
		l.Scan(nastyURL(), p, queued.Called{})
		return l
	}
	if l := page(20_000, 2, 10); l.Budget.LinksDropped+l.Refused.Syntax+l.Refused.Long > 0 {
		t.Errorf("an honest page loses %d links, %+v", l.Budget.LinksDropped, l.Refused)
	}
	const dearest = 2200 // links whose names IDNA reads
	if l := page(5000, 4, 63); 5000-l.Budget.LinksDropped > dearest {
		t.Errorf("IDNA read %d names of 252 different code points", 5000-l.Budget.LinksDropped)
	}
	if l := page(5000, 4, 55); 5000-l.Budget.LinksDropped > dearest*5/4 {
		t.Errorf("IDNA read %d names of 220 different code points", 5000-l.Budget.LinksDropped)
	}
}
