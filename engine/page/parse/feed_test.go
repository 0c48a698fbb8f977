package parse

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// References in a feed are relative to the bases of the elements around them, and each base to that outside of it.
func TestFeeds_haveBases(t *testing.T) {
	for body, want := range map[string]string{
		`<feed xml:base="http://h.test/a/"><link href="b"/><entry xml:base="c/d/"><link href="e"/></entry>` +
			`<entry><link href="f"/></entry></feed>`: "feed http://h.test/a/b\nfeed http://h.test/a/c/d/e\n" +
			"feed http://h.test/a/f",
		`<rss xml:base="/blog/"><item xml:base="1/"><link>x</link></item><item><guid>http://h.test/y</guid>` +
			`<link>/z</link></item></rss>`: "feed /blog/1/x\nfeed http://h.test/y\nfeed /z",
		`<feed xml:base='//h.test/a?b&amp;c'><link href="?d"/><link xml:base="x/" href="y" /><link href="z"/></feed>`: "" +
			"feed //h.test/a?d\nfeed //h.test/x/y\nfeed //h.test/z",
		`<feed><div xml:base="a/"><div><link href="1"/></div><link href="2"/></div><link href="3"/></feed>`: "" +
			"feed a/1\nfeed a/2\nfeed 3",
		`<feed><entry xml:base="a/"><b><i><link href="1"/></entry><link href="2"/></feed>`: "feed a/1\nfeed 2",
		`<feed xml:base="urn:uuid:1"><link href="a"/></feed>`:                              "feed a",
		`<feed xml:base="http://h.test/é/"><link href="ü"/></feed>`:                        "feed http://h.test/é/ü",
		`<urlset xml:base="http://h.test/a/"><loc>b</loc></urlset>`:                        "sitemap b",
	} {
		r, err := NewScanner(Options{}).Scan([]byte(body), []byte("application/atom+xml"))
		if err != nil || show(r) != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s (%v)", body, show(r), want, err)
		}
	}
}

// The HTML in a feed is searched, however it is written. What is text there stays text.
func TestFeeds_haveHTML(t *testing.T) {
	for body, want := range map[string]string{
		`<rss><item><link>/p</link><description>&lt;a href="/a?b&amp;amp;c"&gt;&lt;img src='/i.jpg'&gt;</description>` +
			`</item>`: "feed /p\nanchor /a?b&c\nimage /i.jpg",
		`<rss><item><content:encoded><![CDATA[<p><img srcset="/1.jpg 1x, /2.jpg 2x"></description>]]>` +
			` <![CDATA[<iframe src=/f></iframe>]]></content:encoded><link>/p</link></item>`: "image /1.jpg\nimage /2.jpg\n" +
			"iframe /f\nfeed /p",
		`<feed><entry><content type="xhtml"><xhtml:div><xhtml:a href="a&amp;b">x</xhtml:a><img src="i.png"/>` +
			`</xhtml:div></content><link href="p"/></entry></feed>`: "anchor a&b\nimage i.png\nfeed p",
		`<feed xml:base="/f/"><summary type="html" xml:base="s/">&lt;a href=a&gt;&lt;base href=/no/&gt;&lt;a href=/b&gt;` +
			`</summary><link href="p"/></feed>`: "anchor /f/s/a\nanchor /b\nfeed /f/p",
		`<feed><content type="text">&lt;a href=no&gt;</content><summary>&lt;a href=no&gt;</summary></feed>`: "",
		`<rss><item><media:description>&lt;a href=no&gt;</media:description><media:description type="html">` +
			`&lt;a href=a&gt;</media:description></item></rss>`: "anchor a",
		`<rss><description>&lt;a href=no&gt;<item><link>/p</link></item>`:                        "feed /p",
		`<rss><description/><item><description>a &amp;lt; b</description><link>/p</link></item>`: "feed /p",
		`<rss><description>&lt;meta name=robots content=nofollow&gt;&lt;title&gt;no&lt;/title&gt;` +
			`</description></rss>`: "",
		`<rss><podcast:transcript url="/t.vtt"/><podcast:chapters url="/c.json"/></rss>`: "" +
			"media /t.vtt\nmedia /c.json",
	} {
		r, err := NewScanner(Options{Text: true, Details: true}).Scan([]byte(body), []byte("application/rss+xml"))
		if err != nil || show(r) != want || r.NoFollow || r.Title != nil || len(r.Text) > 0 {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s (%q, %q, %v)", body, show(r), want, r.Title, r.Text, err)
		}
	}
}

// Bases of kilobytes for each link, and endless HTML, cost no more than a bound.
func TestFeeds_haveBoundedBasesAndHTML(t *testing.T) {
	const links = 20_000
	body := `<feed xml:base="/` + strings.Repeat("a", 2000) + `/">` + strings.Repeat("<link href='b'/>", links) + "</feed>"
	r, err := NewScanner(Options{}).Scan([]byte(body), []byte("application/atom+xml"))
	if n := len(r.Links); err != nil || n+r.LinksDropped != links || n*2000 > joinedBase+joinedBody*len(body) || n < 1000 {
		t.Errorf("%d links have a base, %d are left out (%v)", n, r.LinksDropped, err)
	}
	body = "<rss><description>" + strings.Repeat("&lt;img src=x&gt;", 30) + strings.Repeat(" ", feedMarkupMax) +
		"&lt;img src=y&gt;</description><description>&lt;img src=z&gt;</description><link>p</link>"
	r, err = NewScanner(Options{}).Scan([]byte(body), []byte("application/rss+xml"))
	if err != nil || len(r.Links) != 31 || string(r.Links[30].Ref) != "p" {
		t.Errorf("%d links: the HTML of a feed has no bound (%v)", len(r.Links), err)
	}
}

// Of each shape, a feed of 1 MiB costs sixteen times as much as one of 64 KiB. The test allows 64 times.
func TestHostile_P12_hostileFeedsTakeLinearTime(t *testing.T) {
	for _, shape := range []string{
		"<description>", "<description><![CDATA[", "<description>&lt;a href=x></description>", "<x xml:base='a/'>",
		"<x xml:base='a/'/><link href=b />", "<content type=html>&lt;", "</description", "<description>]]></description>",
		"<description><!--", "<encoded><![CDATA[<a href=x>]]></encoded>", "<description>&amp;",
	} {
		scan := func(size int) func() {
			body := []byte("<?xml?><rss>" + strings.Repeat(shape, size/len(shape)))
			s := NewScanner(Options{})
			return func() { _, _ = s.Scan(body, []byte("text/xml")) }
		}
		if invariants.Race { // the race detector distorts times
			scan(1 << 14)()
			continue
		}
		if grows := cputime.Growth(10, 64, scan(1<<20), scan(1<<16)); grows > 64 {
			t.Errorf("%s: 1 MiB costs %.1f times as much as 64 KiB", shape, grows)
		}
	}
}

// BenchmarkFeed reads a feed with the HTML of its articles.
func BenchmarkFeed(b *testing.B) {
	var feed strings.Builder
	feed.WriteString(`<rss xml:base="http://h.test/"><channel>`)
	for i := range 50 {
		fmt.Fprintf(&feed, "<item><link>/p/%d</link><title>an article</title><description><![CDATA[<p>%s<a href=\"/q/%d\">"+
			"more</a><img src=/i/%d.jpg></p>]]></description></item>", i, strings.Repeat("words of an article ", 20), i, i)
	}
	body := []byte(feed.String())
	s := NewScanner(Options{})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Scan(body, []byte("application/rss+xml"))
	}
}
