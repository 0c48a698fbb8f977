package links

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// packedTimes packs a file so many times.
func packedTimes(file string, times int) string {
	for range times {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(file)); err != nil {
			panic(err)
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
		file = b.String()
	}
	return file
}

// wide is a text in UTF-16, with the high bytes at 0 or 1.
func wide(text string, high int) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if high == 0 {
			pair[0], pair[1] = pair[1], pair[0]
		}
		b.Write(pair)
	}
	return b.String()
}

const (
	onePage = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/x</loc></url></urlset>`
	xmlLine = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	warning = "<br />\n<b>Warning</b>:  Cannot modify header information in <b>/www/map.php</b> on line <b>3</b><br />\n"
)

// forms are sitemaps as servers send them, each with one URL: the value of Content-Type and of Content-Encoding, the
// path, and the body.
var forms = []struct{ what, contentType, encoding, path, body string }{
	{"XML", "text/xml", "", "/sitemap.xml", xmlLine + onePage},
	{"application/xml", "application/xml; charset=utf-8", "", "/sitemap.xml", xmlLine + onePage},
	{"octet-stream", "application/octet-stream", "", "/sitemap.xml", xmlLine + onePage},
	{"binary/octet-stream", "binary/octet-stream", "", "/sitemap.xml", onePage},
	{"text/plain", "text/plain", "", "/sitemap.xml", xmlLine + onePage},
	{"no type", "", "", "/sitemap.xml", xmlLine + onePage},
	{"no type at all", "xml", "", "/sitemap", onePage},
	{"called HTML", "text/html", "", "/sitemap.php", xmlLine + onePage},
	{"called a script", "application/javascript", "", "/sitemap.xml", onePage},
	{"called JSON", "application/json", "", "/sitemap.xml", onePage},
	{"called a style sheet", "text/css", "", "/sitemap.xml", onePage},
	{"called an image", "image/png", "", "/sitemap.xml", onePage},
	{"a download", "application/force-download", "", "/get?file=1", onePage},
	{"packed", "application/gzip", "", "/sitemap.xml.gz", packedTimes(onePage, 1)},
	{"packed, old type", "application/x-gzip", "", "/sitemap.gz", packedTimes(onePage, 1)},
	{"packed under any name", "application/octet-stream", "", "/sitemap", packedTimes(onePage, 1)},
	{"packed, called XML", "text/xml", "", "/sitemap.xml", packedTimes(onePage, 1)},
	{"packed, called HTML", "text/html", "", "/sitemap.php", packedTimes(onePage, 1)},
	{"packed, called plain", "text/plain", "", "/sitemap.xml.gz?1", packedTimes(onePage, 1)},
	{"packed by the server", "text/xml", "gzip", "/sitemap.xml", packedTimes(onePage, 1)},
	{"packed by both", "text/xml", "gzip", "/sitemap.xml.gz", packedTimes(onePage, 2)},
	{"packed twice", "application/gzip", "", "/sitemap.xml.gz", packedTimes(onePage, 2)},
	{"packed, and said to be by the server", "application/gzip", "gzip", "/sitemap.xml.gz", packedTimes(onePage, 1)},
	{"said to be packed", "text/xml", "gzip", "/sitemap.xml", onePage},
	{"UTF-8 with its mark", "text/xml", "", "/sitemap.xml", "\xEF\xBB\xBF" + xmlLine + onePage},
	{"UTF-8 with two marks", "text/xml", "", "/sitemap.xml", "\xEF\xBB\xBF\xEF\xBB\xBF" + xmlLine + onePage},
	{"UTF-16, low byte first", "text/xml", "", "/sitemap.xml", "\xFF\xFE" + wide(onePage, 1)},
	{"UTF-16, high byte first", "application/octet-stream", "", "/sitemap.xml", "\xFE\xFF" + wide(onePage, 0)},
	{"UTF-16 without a mark", "text/plain", "", "/sitemap.xml", wide(onePage, 1)},
	{"UTF-16 by its declaration", "text/xml", "", "/sitemap.xml",
		wide(`<?xml version="1.0" encoding="UTF-16"?>`+onePage, 0)},
	{"UTF-16 by its type", "text/xml; charset=utf-16le", "", "/sitemap.xml", wide(onePage, 1)},
	{"ASCII that says it is UTF-16", "text/xml; charset=utf-16", "", "/sitemap.xml",
		`<?xml version="1.0" encoding="UTF-16"?>` + onePage},
	{"UTF-16, packed", "application/gzip", "", "/sitemap.xml.gz", packedTimes("\xFF\xFE"+wide(onePage, 1), 1)},
	{"Latin-1", "text/xml", "", "/sitemap.xml", `<?xml version="1.0" encoding="ISO-8859-1"?>` +
		strings.Replace(onePage, "<url>", "<url><!-- \xE9 -->", 1)},
	{"a list in UTF-16", "text/plain", "", "/urls.txt", "\xFF\xFE" + wide("http://a.test/x\r\n", 1)},
	{"a warning in front", "text/html", "", "/sitemap.php", warning + xmlLine + onePage},
	{"a plain warning in front", "text/xml", "", "/sitemap.php", "Notice: Undefined index in a.php on line 3\n" + onePage},
	{"blanks in front", "text/xml", "", "/sitemap.xml", "\n\n \t" + xmlLine + onePage},
	{"blanks in front, called plain", "text/plain", "", "/sitemap.xml", "\r\n" + onePage},
	{"a comment in front", "text/plain", "", "/sitemap.xml", "<!-- no <urlset> yet -->" + onePage},
	{"a document type in front", "text/plain", "", "/sitemap.xml", "<!DOCTYPE urlset>" + onePage},
	{"a style sheet in front", "text/plain", "", "/sitemap.xml", xmlLine + `<?xml-stylesheet href="/m.xsl"?>` + onePage},
	{"upper case", "text/xml", "", "/sitemap.xml", "<URLSET><URL><LOC>http://a.test/x</LOC></URL></URLSET>"},
	{"mixed case", "text/plain", "", "/sitemap.xml", "<UrlSet><Url><Loc>http://a.test/x</loc></Url></UrlSet>"},
	{"a prefix", "text/xml", "", "/sitemap.xml", `<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">` +
		"<sm:url><sm:loc>http://a.test/x</sm:loc></sm:url></sm:urlset>"},
	{"a prefix below the root", "text/plain", "", "/sitemap.xml", `<urlset xmlns:sm="http://www.sitemaps.org/schemas/` +
		`sitemap/0.9"><sm:url><sm:loc>http://a.test/x</sm:loc></sm:url></urlset>`},
	{"an old namespace", "text/xml", "", "/sitemap.xml",
		strings.Replace(onePage, "www.sitemaps.org/schemas/sitemap/0.9", "www.google.com/schemas/sitemap/0.84", 1)},
	{"CDATA", "text/plain", "", "/sitemap.xml", "<urlset><url><loc><![CDATA[ http://a.test/x ]]></loc></url></urlset>"},
	{"an index", "text/plain", "", "/index.xml",
		"<sitemapindex><sitemap><loc>http://a.test/x</loc></sitemap></sitemapindex>"},
	{"an index, packed", "binary/octet-stream", "", "/index",
		packedTimes("<sitemapindex><sitemap><loc>http://a.test/x</loc></sitemap></sitemapindex>", 1)},
	{"RSS", "text/plain", "", "/rss", `<rss><channel><item><link>http://a.test/x</link></item></channel></rss>`},
	{"Atom", "application/octet-stream", "", "/atom", `<feed><entry><link href="http://a.test/x"/></entry></feed>`},
	{"Atom with a prefix", "text/plain", "", "/atom",
		`<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:link href="http://a.test/x"/></a:entry></a:feed>`},
	{"a list", "text/plain", "", "/sitemap.txt", "http://a.test/x\n"},
	{"a list with a mark", "text/plain", "", "/sitemap.txt", "\xEF\xBB\xBFhttp://a.test/x\r\n"},
	{"a list called octets", "application/octet-stream", "", "/sitemap.txt", "http://a.test/x"},
	{"a list called HTML", "text/html", "", "/sitemap", "http://a.test/x\n"},
	{"a list of lines that end as once on Macs", "text/plain", "", "/sitemap.txt", "# all pages\rHTTP://a.test/x\r"},
	{"a list with a comment", "text/plain", "", "/sitemap.txt", "# all pages\n\nhttp://a.test/x\n"},
	{"a list with a warning", "text/html", "", "/sitemap.txt", warning + "http://a.test/x\n"},
	{"a packed list", "application/octet-stream", "", "/list", packedTimes("http://a.test/x\n", 1)},
	{"cut", "text/plain", "", "/sitemap.xml", strings.TrimSuffix(onePage, "</url></urlset>")},
}

// searchFile finds the links of a file that is called a sitemap.
func searchFile(t *testing.T, l *Finder, contentType, encoding, path, body string) (found []string) {
	t.Helper()
	head := "HTTP/1.1 200 OK\r\n"
	for _, field := range [][2]string{{"Content-Type", contentType}, {"Content-Encoding", encoding}} {
		if field[1] != "" {
			head += field[0] + ": " + field[1] + "\r\n"
		}
	}
	url := []byte("http://a.test" + path)
	p, ok := fetch.Stored(url, fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body))
	if !ok {
		t.Fatal("no response")
	}
	l.Scan(url, p, queued.Called{Sitemap: true})
	err := journal.EachLink(l.Links, func(k parse.Kind, url []byte) {
		if k == parse.Sitemap || k == parse.SitemapFile {
			found = append(found, string(url))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What a robots.txt or an index calls a sitemap is one, whatever its type and its name are, and whatever stands in
// front of it.
func TestSitemaps_areKnownByTheirBytes(t *testing.T) {
	l := NewFinder(Options{Sitemaps: true})
	lost := 0
	for _, f := range forms {
		found := searchFile(t, l, f.contentType, f.encoding, f.path, f.body)
		if !slices.Equal(found, []string{"http://a.test/x"}) {
			lost++
			t.Errorf("%s: %q", f.what, found)
		}
		if l.IsNoSitemap {
			t.Errorf("%s: it is called none", f.what)
		}
	}
	t.Logf("%d of %d forms are lost", lost, len(forms))
}

// A file that is called a sitemap and is none is said to be none. What it is as a page is still read.
func TestSitemaps_whatIsNoneIsSaidToBeNone(t *testing.T) {
	l := NewFinder(Options{Sitemaps: true})
	for what, body := range map[string]string{
		"a page":  "<!DOCTYPE html><html><body><a href=/y>y</a>\nhttp://a.test/no\n<feed>",
		"nothing": " ", "text": "Not found.\n",
		"a page about sitemaps": "<html><body><p>Write &lt;urlset> first.", "a picture": "\x89PNG\r\n\x1a\n\x00",
		"packed text": packedTimes("Not found.", 1), "a damaged file": "\x1F\x8Bno",
	} {
		if found := searchFile(t, l, "text/html", "", "/sitemap.xml", body); len(found) > 0 || !l.IsNoSitemap {
			t.Errorf("%s: %q, said to be none: %v", what, found, l.IsNoSitemap)
		}
	}
	if searchFile(t, l, "text/html", "", "/sitemap.html", "<html><a href=/y>y</a>"); len(l.Links) == 0 {
		t.Error("the links of a page that is called a sitemap are lost")
	}
}

// A layer that is packed again may not be much larger than what came over the wire.
func TestHostile_Z06_sitemapsPackedAgainAreBounded(t *testing.T) {
	l := NewFinder(Options{Sitemaps: true})
	bomb := packedTimes("<urlset>"+strings.Repeat("<url><loc>http://a.test/x</loc></url>", 1<<20), 1)
	if found := searchFile(t, l, "", "", "/a", packedTimes(bomb, 1)); len(found) > 50_000 || l.Encoding != coding.Layers {
		t.Errorf("%d links, %s", len(found), l.Encoding)
	}
	if found := searchFile(t, l, "", "", "/a", packedTimes(onePage, 3)); len(found) > 0 || !l.IsNoSitemap {
		t.Errorf("three layers: %q", found)
	}
}
