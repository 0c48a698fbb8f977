package links

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// nastyPages are bodies of HTML that want much time for few bytes: each a beginning, what is repeated, and an end.
var nastyPages = map[string][3]string{
	"nested":         {"", "<div>", ""},
	"anchors":        {"", "<a>", ""},
	"adoption":       {"", "<a><b><i><p>", "</p></i></b></a>"},
	"tables":         {"", "<table><a><tr><select><td><table>", ""},
	"end tags":       {"", "</p></a></b>", ""},
	"links":          {"", "<a href=/1>", ""},
	"long links":     {"", "<a href=" + strings.Repeat("/..//a", 1000) + ">", ""},
	"other links":    {"", "<a href=http://\u00fc\u00df.example/\u00e9>", ""},
	"bad names":      {"", "<a href=http://xn--a.\u00ad\u200d.example/>", ""},
	"numbers":        {"", "<a href=http://0x7f.017.1/>", ""},
	"images":         {"<img srcset='", "/a 1x,", "'>"},
	"attributes":     {"<p", " a=b", ">"},
	"same attribute": {"<a", " href=/x", ">"},
	"one attribute":  {"<p title='", "<a href=/no>", "'>"},
	"no quote":       {"<p title='", "<a href=/no>", ""},
	"quotes":         {"", "<p title='\">", ""},
	"comments":       {"", "<!---", ""},
	"comment":        {"<!--", "--!-->", ""},
	"open":           {"", "<", ""},
	"script":         {"<script>", "<!--<script>", ""},
	"styles":         {"", "<style>a{b:url(c)}</style>", ""},
	"style":          {"<style>", "@import url(", "</style>"},
	"style=":         {"", "<p style='a:url(&#x2f;b)'>", ""},
	"references":     {"", "<a href=/&amp&notit;&#x110000&CounterClockwiseContourIntegral;>", ""},
	"named":          {"<a href='", "&CounterClockwiseContourIntegral;", "'>"},
	"bytes":          {"", "<a href=/\xce\xd2\xb0\xae>", ""},
	"bytes in text":  {"<meta charset=gbk>", "<a href='/?\xce\xd2\xb0\xae'>", ""},
	"a guess":        {"", "<a href=/\xd0\xcf\xa8>\xd0\xcf\xa8", ""},
	"wide":           {"\xff\xfe", "<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00\xac\x4e>\x00", ""},
	"japanese":       {"<meta charset=iso-2022-jp>", "<a href=/\x1b$B0l\x1b(B>", ""},
	"nulls":          {"", "<a href=/\x00>", ""},
	"foreign":        {"", "<svg><foreignObject><math><mtext>", ""},
	"cdata":          {"<svg>", "<![CDATA[]]>", ""},
	"templates":      {"", "<template>", ""},
	"documents":      {"", "<iframe srcdoc='<a href=/x>'></iframe>", ""},
	"a document":     {"<iframe srcdoc='", "&lt;a href=/x>", "'>"},
	"metas":          {"", "<meta http-equiv=refresh content='0;url=/x'>", ""},
	"bases":          {"", "<base href=/x>", ""},
	"feed":           {"<rss>", "<item><link>/x</link>", ""},
	"sitemap":        {"<urlset>", "<url><loc>http://a.test/</loc></url>", ""},
	"aaaa":           {"<a href='http://", "aaaa", "'>"},
	"schemes":        {"", "<a href=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>", ""},
}

// nastyPage is one of them, of about so many bytes.
func nastyPage(tb testing.TB, name string, size int) *fetch.Page {
	tb.Helper()
	parts := nastyPages[name]
	body := parts[0] + strings.Repeat(parts[1], size/len(parts[1])) + parts[2]
	p, ok := fetch.Stored(nastyURL(), []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+body))
	if !ok {
		tb.Fatal("no response")
	}
	return p
}

func nastyURL() []byte { return []byte("http://a.test/dir/page") }

// scanOf finds the links of a page. The first scan, here, allocates the buffers that the next ones use again.
func scanOf(p *fetch.Page) func() {
	l := NewFinder(Options{Forms: true, Nofollow: true})
	scan := func() { l.Scan(nastyURL(), p, queued.Called{}) }
	scan()
	return scan
}

// To find, decode and normalize the links of a mebibyte of HTML costs at most 50 times as much as one step of a hash
// for each byte, whatever the page holds: 50 ms where the hash takes 1 ms. A page of 64 KiB costs a sixteenth;
// the test grants a 64th. Quadratic work would make it a 256th.
func TestHostile_P01_P12_aMebibyteOfAnyPageCosts50StepsAByte(t *testing.T) {
	const steps, growth = 50, 64
	for _, name := range slices.Sorted(maps.Keys(nastyPages)) {
		if invariants.Race { // where times say nothing
			NewFinder(Options{}).Scan(nastyURL(), nastyPage(t, name, 1<<16), queued.Called{})
			continue
		}
		large, small := scanOf(nastyPage(t, name, 1<<20)), scanOf(nastyPage(t, name, 1<<16))
		cost, grows := cputime.Cost(10, steps, large, cputime.Reference), cputime.Growth(10, growth, large, small)
		t.Logf("%-14s %5.1f steps a byte, %5.1f times the cost of 64 KiB", name, cost, grows)
		if cost > steps || grows > growth {
			t.Errorf("%s: %.1f steps a byte, and %.1f times the cost of 64 KiB", name, cost, grows)
		}
	}
}

// BenchmarkNastyPages finds the links of a mebibyte of each.
func BenchmarkNastyPages(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(nastyPages)) {
		b.Run(name, func(b *testing.B) {
			l := NewFinder(Options{Forms: true, Nofollow: true})
			p := nastyPage(b, name, 1<<20)
			b.SetBytes(1 << 20)
			b.ReportAllocs()
			for b.Loop() {
				l.Scan(nastyURL(), p, queued.Called{})
			}
		})
	}
}

// BenchmarkPageOfNames resolves as many links as one page may have, each with a name that costs IDNA as many steps as a
// name may: the dearest page that a scanner gets, of 16 MB.
func BenchmarkPageOfNames(b *testing.B) {
	for _, labels := range []int{1, 4} {
		b.Run(fmt.Sprintf("labels-%d", labels), func(b *testing.B) { benchmarkNames(b, labels) })
	}
}

func benchmarkNames(b *testing.B, labels int) {
	b.Helper()
	page := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n")
	for link := range 20_000 {
		page = append(page, "<a href=//"...)
		for label := range labels {
			for i := range 63 {
				page = utf8.AppendRune(page, rune(0x4e00+(i*37+label*1000+link)%8000))
			}
			page = append(page, '.')
		}
		page = append(page, "a>"...)
	}
	p, ok := fetch.Stored(nastyURL(), page)
	if !ok {
		b.Fatal("no response")
	}
	l := NewFinder(Options{Longest: 2048})
	for b.Loop() {
		l.Scan(nastyURL(), p, queued.Called{})
	}
}

// Of several base elements the first with an href counts, wherever it stands and whatever comes before it, as the
// standard says: even if it can be no base, since it is data:, javascript: or too long. The page's own URL is the base
// then. (The first that can be one would be another choice, and not a browser's.)
func TestHostile_P04_theFirstBaseCounts(t *testing.T) {
	for page, want := range map[string]string{
		"<a href=x><p><base href=/b/>":                               "http://a.test/b/x",
		"<base><base href=/b/><base href=/c/><a href=x>":             "http://a.test/b/x",
		"<base href='/b/'><base href='javascript:1'><a href=x>":      "http://a.test/b/x",
		"<base href='javascript:alert(1)'><base href=/c/><a href=x>": "http://a.test/dir/x",
		"<base href='data:text/html,x'><a href=x>":                   "http://a.test/dir/x",
		"<base href='java\tscript:1'><a href=x>":                     "http://a.test/dir/x",
		"<base href='mailto:x@y'><a href=x>":                         "http://a.test/dir/x",
		"<base href='http://other.test/d/e?q#f'><a href=x><a href=?r>": "http://other.test/d/x " +
			"http://other.test/d/e?r",
		"<base href=//other.test><a href=x>":                                       "http://other.test/x",
		"<base href='/" + strings.Repeat("b", 64<<10) + "/'><a href=x>":            "http://a.test/dir/x",
		"<base href='http://user:pw@a.test/b/'><a href=x>":                         "http://a.test/b/x",
		"<base href='http://[/'><a href=x>":                                        "http://a.test/dir/x",
		"<base href=''><a href=x>":                                                 "http://a.test/dir/x",
		"<template><base href=/no/></template><!-- <base href=/no/> --><a href=x>": "http://a.test/dir/x",
		"<svg><base href=/no/></svg><a href=x>":                                    "http://a.test/dir/x",
	} {
		if got := strings.Join(linksOf(t, false, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+page),
			" "); got != want {
			t.Errorf("%.80s: %s, want %s", page, got, want)
		}
	}
}

// References of other schemes, and those that are too long, are counted, and none is a link.
func TestHostile_P05_U01_whatIsDroppedOfAPageIsCounted(t *testing.T) {
	l := NewFinder(Options{})
	body := "<a href=mailto:a@b><a href='java\tscript:1'><img src='data:,x'><a href=/ok><a href='http://['>" +
		"<a href='/" + strings.Repeat("a", 9000) + "'><a href='/" + strings.Repeat("\u00e9", 3000) +
		"'><style>a{b:url(tel:1)}</style>" +
		fmt.Sprintf(
			"<a href='http://u:p@a.test/'><a href='//u@a.test/'><a href='/x@y'><a href='http://a.test/@y'><a href=%s>",
			"?u@v",
		)
	p, ok := fetch.Stored(nastyURL(), []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"+body))
	if !ok {
		t.Fatal("no response")
	}
	l.Scan(nastyURL(), p, queued.Called{})
	if want := (Refused{Syntax: 1, Foreign: 4, Long: 2}); l.Refused != want || l.Userinfo != 2 {
		t.Errorf("%+v and %d users, want %+v and 2", l.Refused, l.Userinfo, want)
	}
}

// Each scanner reads foreign bytes once, or a few times: an input sixteen times as long costs sixteen times as much.
// The test grants 64 times; quadratic work would cost 256 times as much.
func TestHostile_P12_noScannerIsBaited(t *testing.T) {
	url := nastyURL()
	one := func(b []byte) iter.Seq[[]byte] { return func(yield func([]byte) bool) { yield(b) } }
	scanners := map[string]func(bait []byte){
		"robots.txt": func(bait []byte) { robots.Parse(bait, robots.Token) },
		"a rule": func(bait []byte) {
			robots.Parse(append([]byte("user-agent: *\ndisallow: /"), bait...), robots.Token).Allowed(bait)
		},
		"X-Robots-Tag": func(bait []byte) { robots.ParseTag(bait, robots.Token) },
		"a cookie":     func(bait []byte) { cookie.NewJars(1<<20, new(cookie.Presets)).Take(url, one(bait), time.Time{}) },
		"a type":       func(bait []byte) { _, _ = parse.NewScanner(parse.Options{}).Scan([]byte("<a href=x>"), bait) },
		"a refresh":    func(bait []byte) { parse.RefreshTarget(bait) },
		"a head":       func(bait []byte) { fetch.Stored(url, append([]byte("HTTP/1.1 200 OK\r\n"), bait...)) },
		"a field": func(bait []byte) {
			if p, ok := fetch.Stored(url, append(append([]byte("HTTP/1.1 200 OK\r\nRetry-After: "), bait...),
				"\r\n\r\n"...)); ok {
				p.Head().RetryAfter(p.Times.Ended)
				p.Decoded(coding.New(coding.Options{}))
			}
		},
		"a CSS file":  func(bait []byte) { _, _ = parse.NewScanner(parse.Options{}).Scan(bait, []byte("text/css")) },
		"an XML file": func(bait []byte) { _, _ = parse.NewScanner(parse.Options{}).Scan(bait, []byte("text/xml")) },
	}
	for name, scan := range scanners {
		for _, unit := range []string{"a", "aaaa ", "a:", "a=", ";", ",", "*", "$a*", "%", "%61", "a\n", "\n", "\r\n ",
			"a:a\r\n", " ", "\"", "charset=", "9", "0;url=", "@import", "<?xml "} {
			if invariants.Race {
				scan([]byte(strings.Repeat(unit, (16<<10)/len(unit))))
				continue
			}
			work := func(size int) func() {
				bait := []byte(strings.Repeat(unit, size/len(unit)))
				return func() { scan(bait) }
			}
			if grows := cputime.Growth(10, 64, work(256<<10), work(16<<10)); grows > 64 {
				t.Errorf("%s of %q: 256 KiB cost %.1f times as much as 16 KiB", name, unit, grows)
			}
		}
	}
}
