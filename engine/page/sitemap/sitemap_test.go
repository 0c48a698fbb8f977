package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// show returns all entries as "kind url", one in each line.
func show(r *Reader) string {
	var b strings.Builder
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		fmt.Fprintf(&b, "%s %s\n", e.Kind, e.URL)
	}
	return strings.TrimSpace(b.String())
}

func packed(t testing.TB, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?><!-- <loc>no</loc> -->`

func TestFilesByTable(t *testing.T) {
	for _, c := range []struct {
		body   string
		format Format
		want   string
	}{
		{xmlHead + `<urlset xmlns="x"><url><loc> http://a/?x=1&amp;y=2
			</loc><lastmod>2026</lastmod></url><url><loc/></url><url><loc></loc></url><url><loc>http://a/&#x62;&#99;</loc></url></urlset>`,
			Pages, "page http://a/?x=1&y=2\npage http://a/bc"},
		{`<urlset><url><loc><![CDATA[http://a/?b&amp;c]]></loc></url><url><loc>http://a/<!-- b -->c</loc></url></urlset>`,
			Pages,
			"page http://a/?b&amp;c\npage http://a/c"},
		{`<urlset><loc>http://a/?b&c=&bogus;&lt</loc><loc>http://<b>a</b>/</loc><loc>/rel</loc>`, Pages,
			"page http://a/?b&c=&bogus;&lt\npage /rel"},
		{`<s:urlset xmlns:s="x"><s:loc>/a</s:loc><image:image><image:loc>/b</image:loc></image:image>` +
			`<video:content_loc>/c</video:content_loc>` +
			`<xhtml:link rel="alternate" hreflang='de' href="/d?x&amp;y"/></s:urlset>`, Pages,
			"page /a\nresource /b\nresource /c\nrelated /d?x&y"},
		{"\xEF\xBB\xBF\n<sitemapindex><sitemap><loc>/a</loc></sitemap><sitemap><loc>/b.gz</loc></sitemap>", Index,
			"sitemap /a\nsitemap /b.gz"},
		{"http://a/1\r\nHTTPS://a/2 \n\nhttp://a/ is no URL\n# no\n/no\nhttp://\nhttp://a/3", Text,
			"page http://a/1\npage HTTPS://a/2\npage http://a/3"},
		{`<rss><channel><link>/l</link><atom:link rel="self" href="/self"/><item><link><![CDATA[/i]]></link>` +
			`<guid>tag:x</guid>` +
			`<guid isPermaLink="false">http://a/no</guid><guid>http://a/guid</guid><comments>/c</comments><enclosure ` +
			`url='/e' length=1 />` +
			`<description>&lt;a href="/no"&gt;</description><media:content url="/m"/><image><url>/u</url></image></item>` +
			`</channel></rss>`,
			Feed, "page /l\nrelated /self\npage /i\npage http://a/guid\npage /c\nresource /e\nresource /m\nresource /u"},
		{`<rdf:RDF><item rdf:about="x"><link>/a</link></item></rdf:RDF>`, Feed, "page /a"},
		{`<feed><link href="/a"/><link rel=enclosure href=/b /><link rel="next" href="/c"/><content src="/d"/>` +
			`<author><uri>/e</uri></author><icon>/f</icon>` +
			`<content type="xhtml"><div><a href="/g">x</a></div></content></feed>`,
			Feed, "page /a\nresource /b\nrelated /c\nresource /d\nrelated /e\nresource /f\npage /g"},
		{`<!DOCTYPE urlset [ <!ENTITY a "&b;&b;"><!ENTITY b "http://"> ]><urlset><loc>&a;x</loc></urlset>`, Pages,
			"page &a;x"},
		{`<html><loc>no</loc></html>`, None, ""}, {"", None, ""}, {"plain", None, ""}, {"<", None, ""}, {"<urlset", None, ""},
		{"<urlset><loc>http://a/1</loc><loc>http://a/cut", Pages, "page http://a/1"},
		{"<urlset><loc>/1</loc><x a='" + strings.Repeat("y", tagMax) + "'/><loc>/2</loc>", Pages, "page /1\npage /2"},
		{"<urlset><!--" + strings.Repeat("-", 3*windowSize) + "--><loc>/2</loc>", Pages, "page /2"},
		{"<urlset><loc>" + strings.Repeat(" ", 5000) + "/1</loc><loc>" + strings.Repeat("x", 3*roomMax) +
			"</loc><loc>/2</loc>", Pages, "page /1\npage /2"},
	} {
		r := NewReader(Options{})
		for way, reset := range map[string]func(){
			"in memory":       func() { r.ResetBytes([]byte(c.body)) },
			"as a stream":     func() { r.Reset(strings.NewReader(c.body)) },
			"octet by octet":  func() { r.Reset(iotest.OneByteReader(strings.NewReader(c.body))) },
			"in odd pieces":   func() { r.Reset(iotest.HalfReader(iotest.DataErrReader(strings.NewReader(c.body)))) },
			"packed":          func() { r.Reset(bytes.NewReader(packed(t, c.body))) },
			"packed, in bits": func() { r.Reset(iotest.OneByteReader(bytes.NewReader(packed(t, c.body)))) },
		} {
			reset()
			if got := show(r); got != c.want || r.Format() != c.format || r.Summary().Err != nil {
				t.Errorf("%.300q %s:\n%s\nwant %s:\n%s (%v)", c.body, way, got, c.format, c.want, r.Summary().Err)
			}
		}
	}
}

func TestHostile_Z06_theLimitsOfTheProtocolHold(t *testing.T) {
	list := func(n int) io.Reader {
		return strings.NewReader(
			"<urlset>" + strings.Repeat("<url><loc>http://a/</loc><image:loc>/i</image:loc></url>", n),
		)
	}
	count := func(r *Reader) (n int) {
		for _, ok := r.Next(); ok; _, ok = r.Next() {
			n++
		}
		return n
	}
	r := NewReader(Options{})
	r.Reset(list(50_000))
	if n := count(r); n != 100_000 || r.Summary().TooMany || r.Summary().TooLarge {
		t.Errorf("%d entries, %+v", n, r.Summary())
	}
	r.Reset(list(50_001))
	if n := count(r); n != 100_000 || !r.Summary().TooMany {
		t.Errorf("%d entries, %+v", n, r.Summary())
	}
	r.Reset(
		strings.NewReader(
			"<urlset><loc>" + strings.Repeat("x", 2048) + "</loc><loc>" + strings.Repeat("x", 2049) + "</loc>",
		),
	)
	if n := count(r); n != 1 || r.Summary().Long != 1 {
		t.Errorf("%d entries, %+v", n, r.Summary())
	}

	const head, line = "<urlset>", "<loc>http://a/</loc>"
	for _, body := range [][]byte{[]byte(head + line + line), packed(t, head+line+line)} {
		for limit, want := range map[int]int{len(head + line): 1, len(head+line+line) - 1: 1, len(head + line + line): 2} {
			r := NewReader(Options{Bytes: int64(limit)})
			r.Reset(bytes.NewReader(body))
			if n := count(r); n != want || r.Summary().TooLarge != (want == 1) {
				t.Errorf("of %d octets %d entries, %+v", limit, n, r.Summary())
			}
		}
	}
}

// TestHostile_Z06_aBombOfZerosEndsAtTheLimit packs 16 MiB: reading ends at the limit.
func TestHostile_Z06_aBombOfZerosEndsAtTheLimit(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte("<urlset><loc>/1</loc>"))
	zeros := make([]byte, 1<<20)
	for range 16 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	r := NewReader(Options{Bytes: 2 << 20})
	r.Reset(&b)
	if got := show(r); got != "page /1" || !r.Summary().TooLarge {
		t.Errorf("%q %+v", got, r.Summary())
	}
}

func TestADamagedFileGivesWhatThereWas(t *testing.T) {
	whole := packed(t, "<urlset>"+strings.Repeat("<loc>http://a/1</loc>", 20_000))
	r := NewReader(Options{})
	r.Reset(bytes.NewReader(whole[:len(whole)/2]))
	n := 0
	for _, ok := r.Next(); ok; _, ok = r.Next() {
		n++
	}
	if s := r.Summary(); n == 0 || n == 20_000 || s.Entries != n || !errors.Is(s.Err, io.ErrUnexpectedEOF) {
		t.Errorf("%d entries, %+v", n, s)
	}
	r.Reset(strings.NewReader("\x1F\x8Bno"))
	if got := show(r); got != "" || r.Summary().Err == nil {
		t.Errorf("%q %+v", got, r.Summary())
	}
	r.Reset(strings.NewReader("http://a/")) // the Reader can be used again
	if got := show(r); got != "page http://a/" || r.Summary().Err != nil {
		t.Errorf("%q %+v", got, r.Summary())
	}
}

// Of each shape, a file of 512 KiB takes eight times as long as one of 64 KiB. The test allows 24 times.
func TestHostile_P12_hostileFilesTakeLinearTime(t *testing.T) {
	for _, shape := range []string{
		"<", "<a ", "<a '", "<loc>", "</loc", "<!--", "<![CDATA[", "<?", "<!DOCTYPE [", "&", "&#", "<loc>&amp;",
		"<link a=b ", "]", "<link href='",
		"<loc><![CDATA[x]]>", "<link =", "x=", " ", "aaaa", "<aaaa", "a:", "\n", "<a a a", "&a;", "<a", "<!",
	} {
		for _, lead := range []string{"<urlset>", "<rss>", "http://a/\n", "<urlset><loc>", "<feed><link ", "x"} {
			read := func(size int) func() {
				body := []byte(lead + strings.Repeat(shape, size/len(shape)))
				r := NewReader(Options{})
				return func() {
					r.Reset(bytes.NewReader(body))
					for _, ok := r.Next(); ok; _, ok = r.Next() {
					}
				}
			}
			if invariants.Race { // the race detector distorts times
				read(16 << 10)()
				continue
			}
			if grows := cputime.Growth(10, 24, read(512<<10), read(64<<10)); grows > 24 {
				t.Errorf("%q after %q: 512 KiB cost %.1f times as much as 64 KiB", shape, lead, grows)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	if err := (Options{URLs: -1, Bytes: -1, URLMax: 1}).Validate(); !errors.Is(err, ErrOptions) ||
		strings.Count(err.Error(), "\n") != 2 {
		t.Fatal(err)
	}
	if err := (Options{}).WithDefaults().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestAWarmReaderDoesNotAllocate(t *testing.T) {
	body := []byte("<urlset>" + strings.Repeat("<url><loc>http://a/?b&amp;c</loc></url>", 1000))
	r, src := NewReader(Options{}), bytes.NewReader(body)
	read := func(reset func()) func() {
		return func() {
			reset()
			for _, ok := r.Next(); ok; _, ok = r.Next() {
			}
		}
	}
	inMemory := func() { r.ResetBytes(body) }
	asStream := func() { src.Reset(body); r.Reset(src) }
	for _, reset := range []func(){inMemory, asStream} {
		if n := testing.AllocsPerRun(20, read(reset)); n != 0 {
			t.Errorf("%v allocations for a file", n)
		}
	}
}

// FuzzReader: no bytes cause a panic, the limits hold, and the result does not depend on the reads.
func FuzzReader(f *testing.F) {
	for _, body := range []string{
		xmlHead + "<urlset><loc>http://a/&amp;</loc>", "<sitemapindex><sitemap><loc><![CDATA[x]]></loc>",
		"http://a/\nhttp://b/",
		"<rss><item><link>x</link><enclosure url='y'/>", "<feed><link rel=self href='x'/>",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset>", "<a:urlset><a:loc>",
		"<rss xml:base='a/'><x xml:base='b/'><description><![CDATA[</description>]]></description></x><link>c</link>",
	} {
		f.Add([]byte(body))
		f.Add(packed(f, body))
	}
	o := Options{URLs: 5, Bytes: 1 << 16, URLMax: 40}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := NewReader(o)
		r.Reset(bytes.NewReader(body))
		first := show(r)
		s := r.Summary()
		if named := strings.Count("\n"+first, "\npage ") + strings.Count("\n"+first, "\nsitemap "); named > o.URLs {
			t.Fatalf("%d entries", named)
		}
		r.Reset(iotest.OneByteReader(bytes.NewReader(body)))
		if again := show(r); again != first || fmt.Sprint(r.Summary()) != fmt.Sprint(s) {
			t.Fatalf("in pieces:\n%s %+v\nat once:\n%s %+v", again, r.Summary(), first, s)
		}
		marked := NewReader(Options{URLs: 5, Bytes: 1 << 16, URLMax: 40, Markup: true})
		marked.ResetBytes(body)
		for e, ok := marked.Next(); ok; e, ok = marked.Next() {
			if len(e.URL) > len(body) || len(e.Base) > baseMost {
				t.Fatalf("%d bytes below %d", len(e.URL), len(e.Base))
			}
		}
		if !bytes.HasPrefix(body, []byte("\x1F\x8B")) {
			r.ResetBytes(body)
			if r.Format() == None {
				return // as a file it may be one: what stands in front of the root element is skipped then
			}
			if again := show(r); again != first || fmt.Sprint(r.Summary()) != fmt.Sprint(s) {
				t.Fatalf("in memory:\n%s %+v\nas a stream:\n%s %+v", again, r.Summary(), first, s)
			}
		}
	})
}
