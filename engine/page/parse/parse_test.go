package parse

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// show writes a result's links as "kind ref", one a line.
func show(r *Result) string {
	var b strings.Builder
	for _, l := range r.Links {
		fmt.Fprintf(&b, "%s %s", l.Kind, l.Ref)
		if l.NoFollow {
			b.WriteString(" nofollow")
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}

func TestLinksByTable(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`<a href=" /a&amp;b ">x</a><A HREF='b' rel="x NoFollow">`, "anchor /a&b\nanchor b nofollow"},
		{`<area href=x><link rel=next href=y><link rel=preconnect href=z><link rel="dns-prefetch" href=z>`, "area x\nlink y"},
		{`<link rel="Shortcut ICON" href=a><link rel=stylesheet href=b><link href=c><link rel="preconnect ` +
			`dns-prefetch" href=no><link rel="preload preconnect" href=d>`,
			"resource a\nresource b\nlink c\nresource d"},
		{`<svg><style>@import "a"; x{b:url(c?d&amp;e)}<!-- url(no) -->/*<![CDATA[*/ y{b:url(f)} /*]]>*/</style>` +
			`<feImage href=g /></svg>`,
			"css a\ncss c?d&e\ncss f\nimage g"},
		{`<img src=a srcset="b 1x, c,d 2x , e,, f(1,2) 3x">`, "image a\nimage b\nimage c,d\nimage e\nimage f(1,2)"},
		{`<picture><source srcset=a><source src=b></picture><link rel=preload imagesrcset="c 1x">`,
			"image a\nmedia b\nimage c"},
		{`<video src=a poster=b><audio src=c><track src=d><embed src=e><object data=f>`,
			"media a\nmedia b\nmedia c\nmedia d\nembed e\nobject f"},
		{`<iframe src=a><a href=no></iframe><frame src=b><script src=c>"<a href=no>"</script>`,
			"iframe a\nframe b\nscript c"},
		{`<input type=IMAGE src=a><input src=no><body background=b><td background=c>`, "image a\nbackground b\nbackground c"},
		{`<meta http-equiv=Refresh content="0; URL='a b'">`, "refresh a b"},
		{`<meta http-equiv=refresh content="5"><meta http-equiv=refresh content="1,b"><meta http-equiv=refresh ` +
			`content="x;url=c">`, "refresh b"},
		{`<meta http-equiv=refresh content="0;url = /q?a=1&amp;b=2 ">`, "refresh /q?a=1&b=2"},
		{`<q cite=no><ins cite=no><div data-href=no><img longdesc=no usemap=no><a name=x>`, ""},
		{`<a href=JavaScript:x()><a href="mailto:a@b"><img src="data:,x"><a href="&#106;avascript:x"><a href="HTTPS://x/">`,
			"anchor HTTPS://x/"},
		{`<a href=""><img src=""><a href="#f">`, "anchor \nanchor #f"},
		{`<template><a href=no><template></template><a href=no></template><a href=yes>`, "anchor yes"},
		{`<template shadowrootmode=open><a href=yes><template><a href=no></template></template>`, "anchor yes"},
		{`<noscript><img src=a></noscript><textarea><a href=no></textarea><!-- <a href=no> --><plaintext><a href=no>`,
			"image a"},
		{`<svg><a xlink:href=a><image href=b xlink:href=no><use href=#c></svg><use href=no><image src=d>`,
			"anchor a\nimage b\nuse #c\nimage d"},
		{`<svg><title><a href=a></title><style><a href=b></style></svg><style><a href=no></style>`, "anchor a\nanchor b"},
		{`<svg><p><style><a href=no></style><![CDATA[><a href=yes>]]>`, "anchor yes"},
		{`<svg><br><title><a href=no></title>`, ""},
		{`<svg></p><title><a href=no></title>`, ""},
		{`<math><annotation-xml><svg><a xlink:href=a /></svg></annotation-xml></math>`, "anchor a"},
		{`<a href="unclosed><a href=no>`, ""},
		{`<a href=x`, ""},
		{`<a href=a/><a href="b"c=d href=no>`, "anchor a/\nanchor b"},
		{"<a href=\"a\x00b\">", "anchor a\uFFFDb"},
		{`<form action=no><input formaction=no></form>`, ""},
		{`<iframe src=no srcdoc="<title>no</title><base href=no><a href='/a?b&amp;amp;c'><svg><iframe srcdoc='<a ` +
			`href=no>'>"></iframe><a href=b><svg><a xlink:href=c />`,
			"anchor /a?b&c\nanchor b\nanchor c"},
		{`<iframe srcdoc="<plaintext>"></iframe><a href=b><iframe srcdoc><a href=no></iframe>`, "anchor b"},
	} {
		s := NewScanner(Options{})
		r, err := s.Scan([]byte(c.body), []byte("text/html;charset=utf-8"))
		if err != nil || show(r) != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s (%v)", c.body, show(r), c.want, err)
		}
	}
}

func TestOptionalLinks(t *testing.T) {
	s := NewScanner(Options{Forms: true})
	r, _ := s.Scan([]byte(`<form action=a><form method=GET action=b><form method=post action=no><button formaction=c>`+
		`<style>@import "d"; p { background: URL( "e" ) }</style><p style="background:url(&quot;f&amp;g&quot;)">`),
		[]byte("text/html"))
	if want := "form a\nform b\nform c\ncss d\ncss e\ncss f&g"; show(r) != want {
		t.Fatalf("%s\nwant\n%s (%v)", show(r), want, r.Format)
	}
}

func TestStyleSheets(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`@import "a.css"; @import url(b.css); @imports "no"; x{content:"no"}`, "css a.css\ncss b.css"},
		{
			`@namespace url(http://no.test/1); @NAMESPACE svg url("no2"); @namespace "no3"; x{background:url(yes.png)}`,
			"css yes.png",
		},
		{
			`@document url(http://no.test/), url-prefix("no") { x{background:url(yes.png)} } @-moz-document url(no) {}`,
			"css yes.png",
		},
		{`@namespace/* url(no) */url(no);@import url(yes.css);`, "css yes.css"},
		{`@supports (background:url(no)) { x{background:url(yes.png)} }`, "css yes.png"},
		{
			`@import url(a.css) supports(b:url(no)); @import "b.css" layer(x) supports(b:url("no"));x{b:url(c.png)}`,
			"css a.css\ncss b.css\ncss c.png",
		},
		{
			`x{background-image:image-set( "a.avif" type("image/avif") 1x , 'b.png' 2x, url(c.png) 3x);font:"no","no"}`,
			"css a.avif\ncss b.png\ncss c.png",
		},
		{`x{cursor:-webkit-image-set('a.png' 1x),auto;content:"no", "no"} y{quotes:("no") "no"}`, "css a.png"},
		{`a{b:url(c)}/* url(no) */d{e:url('f g')}`, "css c\ncss f g"},
		{`a{b:myurl(no) url(data:x) url( h ) url(i"no) url(j k) url()}`, "css h"},
		{`a{b:url(a\29 b\63\)d)} "url(no)" 'url(no)`, "css a)bc)d"},
		{"@charset \"windows-1252\"; a{b:url(\xE9?\xE9)}", "css é?é"},
		{`url(unclosed`, "css unclosed"},
		{`a{b:url("un`, "css un"},
	} {
		r, err := NewScanner(Options{}).Scan([]byte(c.body), []byte("text/css"))
		if err != nil || show(r) != c.want || r.Format != Style {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s (%v)", c.body, show(r), c.want, err)
		}
	}
}

func TestPageFacts(t *testing.T) {
	s := NewScanner(Options{TitleMax: 10})
	r, _ := s.Scan([]byte(`<base><base href=" /b&amp;c "><base href=no><title> T&eacute;&copyx long title </title>`+
		`<meta name=Robots content="NoIndex, x"><meta name=orbweaver content=nofollow><title>no</title>`+
		`<svg><title>no</title>`), nil)
	if string(r.Base) != "/b&c" || string(r.Title) != "Té©x lon" || !r.NoIndex || !r.NoFollow {
		t.Fatalf("%q %q %v %v", r.Base, r.Title, r.NoIndex, r.NoFollow)
	}
	r, _ = s.Scan([]byte(`<meta name=robots content=none><meta name=googlebot content=x>`), []byte("text/html"))
	if !r.NoFollow || !r.NoIndex || r.Base != nil || r.Title != nil {
		t.Fatalf("%+v", r)
	}
	r, _ = s.Scan([]byte(`<base href="data:,x"><base href=/no>`), []byte("text/html"))
	if r.Base != nil {
		t.Fatalf("%q: of two bases the first counts, even if it can be none", r.Base)
	}
	r, _ = s.Scan([]byte(`<meta name=googlebot content=none>`), []byte("text/html"))
	if r.NoFollow || r.NoIndex {
		t.Fatalf("%+v", r)
	}
}

func TestFormats(t *testing.T) {
	const html, xml = "<html><a href=x></html>",
		`<?xml version="1.0"?><html><script src="a"/><a href="x"/><![CDATA[<a href="no">]]></html>`
	for _, c := range []struct {
		media, body string
		format      Format
		links       int
	}{
		{"text/html", html, HTML, 1}, {" Text/HTML ; charset=x", html, HTML, 1}, {"", html, HTML, 1}, {"*/*", html, HTML, 1},
		{"", "\xEF\xBB\xBF \n<!-- x --><a href=x>", HTML, 1}, {"", "\x89PNG <a href=x>", None, 0},
		{"", "<aa href=x>", None, 0},
		{"text/plain", html, None, 0}, {"image/png", html, None, 0}, {"application/xhtml+xml", xml, XML, 2},
		{"", xml, XML, 2},
		{"image/svg+xml", `<svg xmlns:xlink="x"><a xlink:href="a"/><image xlink:href="b"/></svg>`, XML, 2},
		{"application/xml", `<!DOCTYPE a [<!ENTITY b "&b;&b;"> ]><a href="x">&b;</a>`, XML, 1},
		{strings.Repeat("charset=x;", 10_000), html, HTML, 1}, {"html", html, HTML, 1},
		{"text/html charset=utf-8", html, HTML, 1},
		{"text/html,text/html", html, HTML, 1}, {"text/html, image/png", html, None, 0},
		{"image/png,text/html", html, HTML, 1},
		{"text/xml", `<?xml version="1.0"?><?xml-stylesheet href="a.xsl" type="text/xsl"?><x:y><h:a href="b"/>` +
			`<h:style>x</h:style><h:img src="c"/></x:y>`, XML, 3},
		{"application/xhtml+xml", `<html><style>/*<![CDATA[*/ a{b:url(c)} /*]]>*/</style><style><!-- url(no) -->` +
			`</style></html>`, XML, 1},
		{"application/xhtml+xml", `<html><template><a href="no"/></template><a href="a"/></html>`, XML, 1},
		{"application/rss+xml", `<rss><channel><link>a</link><item><link>b</link></item></channel></rss>`, FeedFile, 2},
		{"text/html", "<?xml version='1.0'?>\n<!-- x --><rss><item><link>b</link></item></rss>", FeedFile, 1},
		{"", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="a"/></feed>`, FeedFile, 1},
		{"application/xml", `<?xml version="1.0"?><urlset><url><loc>http://a/</loc></url></urlset>`, SitemapXML, 1},
		{"text/html", `<sitemapindex><sitemap><loc>http://a/</loc></sitemap></sitemapindex>`, SitemapXML, 1},
		{"text/html", "\xEF\xBB\xBF<rss><link>a</link>", FeedFile, 1},
		{"text/html", `<!doctype html><rss><link>a</link>`, HTML, 0}, {"text/html", `<feedback><a href=x>`, HTML, 1},
		{"", "<rssx>", None, 0},
	} {
		r, err := NewScanner(Options{}).Scan([]byte(c.body), []byte(c.media))
		if err != nil || r.Format != c.format || len(r.Links) != c.links {
			t.Errorf("%.40q %q: %v, %d links, %v", c.media, c.body, r.Format, len(r.Links), err)
		}
	}
}

// The byte order mark takes precedence, then the header, then a declaration in the first 1,024 bytes. A later meta
// element counts from there on if nothing was declared before; browsers would parse the page again.
func TestHostile_P08_charsetsAreChosenByTheStandard(t *testing.T) {
	wide := func(s string, order unicode.Endianness) string {
		out, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	sjis, _ := japanese.ShiftJIS.NewEncoder().String("<a href='/表?表'>")
	jis, _ := japanese.ISO2022JP.NewEncoder().String("<meta charset=iso-2022-jp><a href='/表'>")
	greek := "<a href='/\xE1?\xE2&eacute;=#\xE3'>"
	for _, c := range []struct{ media, body, charset, want string }{
		{"text/html", "<a href='/é?é'>", "utf-8", "anchor /é?é"},
		{"text/html;charset=utf-8", "<a href='/\xE9\x80?é'>", "utf-8", "anchor /\uFFFD?é"},
		{"text/html", "<a href='/\xE9?\xE9'>", "windows-1252", "anchor /é?%E9"},
		{"text/html", "<a href='x'>" + strings.Repeat(" ", 2000) + "<a href='/é?é'>", "windows-1252",
			"anchor x\nanchor /é?é"},
		{"text/html; charset=\"Shift_JIS\"", sjis, "shift_jis", "anchor /表?%95\\"},
		{"text/html", "<meta http-equiv=content-type content='text/html; charset=iso-8859-7'>" + greek, "iso-8859-7",
			"anchor /α?%E2&#233;=#γ"},
		{"text/html", jis, "iso-2022-jp", "anchor /表"},
		{"text/html", wide("<a href='/é?é'>", unicode.LittleEndian), "utf-16le", "anchor /é?é"},
		{"text/html;charset=latin1", wide("<a href='/é?é'>", unicode.BigEndian), "utf-16be", "anchor /é?é"},
		{"text/html", "<meta charset=utf-16><a href=/é>", "utf-8", "anchor /é"},
		{"text/html", "<META HTTP-EQUIV=CONTENT-TYPE CONTENT='TEXT/HTML; CHARSET=KOI8-R'><a href=/\xC1>", "koi8-r",
			"anchor /а"},
		{"text/html", "<?xml version='1.0' encoding='koi8-r'?><meta charset=latin1><a href=/\xC1>", "windows-1252",
			"anchor /Á"},
		{"text/html", "<?xml version='1.0' encoding='koi8-r'?><a href=/\xC1>", "koi8-r", "anchor /а"},
		{"application/xhtml+xml", "<?xml version='1.0' encoding='koi8-r'?><meta charset='latin1'/><a href='/\xC1'/>",
			"koi8-r", "anchor /а"},
		{"text/html;charset=nonsense", "<meta charset='KOI8-R'><a href=/\xC1>", "koi8-r", "anchor /а"},
		{"text/html", "<meta charset=x-user-defined><a href=/\xE9>", "windows-1252", "anchor /é"},
		{"text/html", "<!-- <meta charset=koi8-r> --><script>'<meta charset=latin1>'</script><a href=/\xE9>", "windows-1252",
			"anchor /é"},
		{"text/html", strings.Repeat(" ", 1024) + "<meta charset=koi8-r><a href=/\xC1>", "koi8-r", "anchor /а"},
		{"text/html;charset=latin1", strings.Repeat(" ", 1024) + "<meta charset=koi8-r><a href=/\xC1>", "windows-1252",
			"anchor /Á"},
		{"text/html", "<meta charset=latin1>" + strings.Repeat(" ", 1024) + "<meta charset=koi8-r><a href=/\xC1>",
			"windows-1252", "anchor /Á"},
		{"text/html", "<meta http-equiv='content-type ' content='text/html;charset=koi8-r'><a href=/\xC1>", "windows-1252",
			"anchor /Á"},
		{"text/html;charset=shift_jis", "<a href=/?&#x2212;>", "shift_jis", "anchor /?%81|"},
		{"text/html;charset=gb18030", "<a href=/?&#xE5E5;>", "gb18030", "anchor /?%26%2358853%3B"},
		{"text/html;charset=utf-7", "<a href=/+AGE->", "windows-1252", "anchor /+AGE-"},
		{"text/xml", "<?xml version='1.0' encoding='koi8-r'?><a href='/\xC1'/>", "koi8-r", "anchor /а"},
	} {
		r, err := NewScanner(Options{}).Scan([]byte(c.body), []byte(c.media))
		want := strings.ReplaceAll(c.want, "&#233;=", "%26%23233%3B=")
		if err != nil || r.Charset != c.charset || show(r) != want {
			t.Errorf("%q %q:\n%s %q\nwant %s %q (%v)", c.media, c.body, r.Charset, show(r), c.charset, want, err)
		}
	}
	r, err := NewScanner(Options{}).Scan([]byte("<a href=x>"), []byte("text/html;charset=hz-gb-2312"))
	if !errors.Is(err, ErrCharset) || len(r.Links) != 0 || r.Charset != "replacement" {
		t.Errorf("%v %+v", err, r)
	}
}

func TestHostile_P06_linksBeyondTheLimitAreCounted(t *testing.T) {
	s := NewScanner(Options{LinksMax: 100, RefMax: 50})
	r, _ := s.Scan([]byte(strings.Repeat("<a href=/a>", 1000)), nil)
	if len(r.Links) != 100 || r.LinksDropped != 900 {
		t.Fatal(len(r.Links), r.LinksDropped)
	}
	r, _ = s.Scan([]byte("<a href='/"+strings.Repeat("x", 50)+"'><a href=/"+strings.Repeat("x", 49)+"><img srcset='"+
		strings.Repeat("a 1x,", 1000)+"'><a href=data:"+strings.Repeat("x", 5000)+">"), nil)
	if len(r.Links) != 100 || r.LinksDropped != 1+900 || r.LinksLong != 1 || r.LinksForeign != 1 {
		t.Fatal(len(r.Links), r.LinksDropped, r.LinksLong, r.LinksForeign)
	}
}

// Of each hostile shape, a body of 1 MiB costs sixteen times as much as one of 64 KiB; quadratic work would cost 256
// times as much. The test allows 64 times.
func TestHostile_P01_P02_P12_hostileBodiesTakeLinearTime(t *testing.T) {
	shapes := map[string]string{
		"nested": "<div>", "anchors": "<a href=x>", "comments": "<!--", "open": "<", "quotes": "<a b='",
		"script": "<script><!--<script>",
		"amps":   "&amp", "entity": "<a href='&a", "cdata": "<svg><![CDATA[", "srcset": "<img srcset='a 1x (",
		"attrs":   " a=b",
		"slashes": "/",
		"end":     "</script", "dashes": "-", "gt": "<!-->->", "template": "<template>", "svg": "<svg><desc>",
		"equals": "<a =",
		"meta":   "<meta charset", "title": "<title>&copyx", "style": "<style>url(",
		"svg style":   "<svg><style><![CDATA[x]]>",
		"import":      "@import",
		"instruction": "<?xml-stylesheet a=", "item": "<item><link>x", "link": "<link href=a rel=b ",
		"bytes": "<a href=\xCE\xD2>", "parts": "a/*",
		"aaaa": "aaaa", "spaces": " ", "newlines": "\n", "adoption": "<a><b><i><p>", "tables": "<table><a><tr><td>",
		"urls": "url(a", "base": "<base href=",
		"foreign": "<svg><math>", "numbers": "&#1111111111", "refresh": "<meta http-equiv=refresh content='0;url=",
		"controls": "\x01",
	}
	for n, name := range slices.Sorted(maps.Keys(shapes)) {
		shape := shapes[name]
		for k, lead := range []string{
			"", "<a href='", "<script>", "<!--", "<a ", "<svg>", "<title>", "<img srcset='", "<?xml?>", "<?xml?><rss>",
			"<?xml?><urlset><loc>", "css:", "css:url(",
		} {
			if k > 0 && (n+k)%3 > 0 { // each shape alone, and behind every third lead
				continue
			}
			lead, css := strings.CutPrefix(lead, "css:")
			media := ""
			if css {
				media = "text/css"
			} else if !strings.HasPrefix(lead, "<?xml") {
				media = "text/html"
			}
			scan := func(size int) func() {
				body := []byte(lead + strings.Repeat(shape, size/len(shape)))
				s := NewScanner(Options{Forms: true})
				return func() { _, _ = s.Scan(body, []byte(media)) }
			}
			if invariants.Race { // where times say little
				scan(1 << 14)()
				continue
			}
			if grows := cputime.Growth(10, 64, scan(1<<20), scan(1<<16)); grows > 64 {
				t.Errorf("%s after %q: 1 MiB costs %.1f times as much as 64 KiB", name, lead, grows)
			}
		}
	}
}

func TestFeedsAndSitemaps(t *testing.T) {
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).
		NewEncoder().
		String(`<urlset><loc>http://a/é</loc></urlset>`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ body, want string }{
		{`<urlset><url><loc>http://a/?b&amp;c</loc><image:loc>/i</image:loc><xhtml:link href="/de"/></url></urlset>`,
			"sitemap http://a/?b&c\nmedia /i\nlink /de"},
		{`<sitemapindex><sitemap><loc>http://a/s</loc></sitemap></sitemapindex>`, "sitemapfile http://a/s"},
		{`<rss><item><link> /a </link><enclosure url="/b"/><guid>tag:x</guid><link>mailto:x</link></item></rss>`,
			"feed /a\nmedia /b"},
		{"<?xml version='1.0' encoding='koi8-r'?><rss><link>/\xC1?\xC1</link></rss>", "feed /а?а"},
		{"<rss><link>/\xE9</link></rss>", "feed /\uFFFD"}, {wide, "sitemap http://a/é"},
	} {
		r, err := NewScanner(Options{}).Scan([]byte(c.body), []byte("text/xml"))
		if err != nil || show(r) != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s (%v)", c.body, show(r), c.want, err)
		}
	}
	r, _ := NewScanner(Options{LinksMax: 10}).Scan([]byte("<urlset>"+strings.Repeat("<loc>/a</loc>", 50_001)),
		[]byte("text/xml"))
	if len(r.Links) != 50_000 || r.LinksDropped != 1 {
		t.Errorf("%d links, %d dropped", len(r.Links), r.LinksDropped)
	}
}

// TestKinds: names are distinct, and the letters those that archives use.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := range kindCount {
		if seen[k.String()] || !strings.Contains("LERSMPXI", string(k.Letter())) {
			t.Errorf("%v %c", k, k.Letter())
		}
		seen[k.String()] = true
	}
	for k, want := range map[Kind]byte{
		Anchor: 'L', LinkRel: 'L', Image: 'E', CSS: 'E', IFrame: 'E', MetaRefresh: 'R', Redirect: 'R', Form: 'S',
		Resource: 'E', Background: 'E',
		Use: 'E', Feed: 'L', Sitemap: 'M', SitemapFile: 'M', Robots: 'P', Speculative: 'X', PDF: 'L', kindCount: '-',
	} {
		if k.Letter() != want {
			t.Errorf("%v is %c, want %c", k, k.Letter(), want)
		}
	}
}

func TestOptions(t *testing.T) {
	err := Options{LinksMax: -1, RefMax: 1, TitleMax: -1, Robot: "A b"}.Validate()
	if !errors.Is(err, ErrOptions) || strings.Count(err.Error(), "\n") != 3 {
		t.Fatal(err)
	}
	if err := (Options{}).WithDefaults().Validate(); err != nil {
		t.Fatal(err)
	}
}
