package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// began is the time of the first capture; each further one is a second later.
var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stored writes an archive.
type stored struct {
	t     *testing.T
	w     *warc.Writer
	e     *warc.Encoder
	clock time.Time
}

func (s *stored) add(kind warc.Type, url, block string, change func(*warc.Record)) {
	s.t.Helper()
	status := 0
	_, _ = fmt.Sscanf(block, "HTTP/1.1 %d", &status)
	media := ""
	for line := range strings.Lines(block) {
		if value, ok := strings.CutPrefix(line, "Content-Type: "); ok {
			media = strings.TrimSpace(value)
		}
	}
	r := warc.Record{
		Type: kind, Date: s.clock, TargetURI: []byte(url), Block: [][]byte{[]byte(block)},
		Index: &warc.IndexInfo{Status: status, MIME: []byte(media)},
	}
	change(&r)
	s.clock = s.clock.Add(time.Second)
	s.e.Reset()
	if err := s.e.Append(&r); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.w.Append(s.e.Group()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stored) page(url, head, body string) {
	s.t.Helper()
	s.add(warc.Response, url, "HTTP/1.1 "+head+"\r\n\r\n"+body, func(*warc.Record) {})
}

// chunked returns a body that is compressed and sent in chunks.
func chunked(text string) string {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, text) // into memory
	_ = z.Close()
	half := packed.Len() / 2
	return fmt.Sprintf("%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", half, packed.Bytes()[:half], packed.Len()-half,
		packed.Bytes()[half:])
}

// blueDot is an image of one blue pixel.
const blueDot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg=="

// titleIn finds the title of a page.
func titleIn(body, _ []byte) string {
	_, rest, _ := strings.Cut(string(body), "<title>")
	title, _, ok := strings.Cut(rest, "</title>")
	if !ok {
		return ""
	}
	return title
}

// emptyArchive returns a new archive, and the Handler that shows it.
func emptyArchive(t *testing.T) (*stored, http.Handler) {
	t.Helper()
	fsys := vfs.NewMem(1)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "w"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Abandon(); err != nil {
			t.Error(err)
		}
	})
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files := lookup.NewFiles(lookup.Options{FS: fsys, Dirs: []string{"w"}})
	o := Options{Name: "w", TitleOf: titleIn}
	return &stored{t, w, e, began}, NewHandler(lookup.New(files), o, slog.New(slog.DiscardHandler))
}

// site is an archive of a small site, with what makes replay hard.
func site(t *testing.T) http.Handler {
	t.Helper()
	s, h := emptyArchive(t)
	s.page("https://a.test/", "200 OK\r\nContent-Type: text/html; charset=utf-8\r\nSet-Cookie: a=b\r\n"+
		"Content-Security-Policy: default-src 'none'\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked",
		chunked(`<!DOCTYPE html><html><head><title>Start</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<link rel=stylesheet href="/style.css" integrity="sha256-x"></head>
<body style="margin:0"><img src="//img.test/dot.png" width=60 height=60 alt="&quot;dot&quot;">
<p><a href="old#part">a link</a> <a href="mailto:x@a.test">mail</a> <a href="#here">here</a></p>
<script>document.title = "a script ran"</script><form action="https://b.test/send"></form></body></html>`))
	s.page("https://a.test/style.css", "200 OK\r\nContent-Type: text/css",
		`@import "more.css"; body{background:url(/bg.png)} p::after{content:"styled";background:url('data:,x')}`)
	s.page("https://a.test/more.css", "200 OK\r\nContent-Type: text/css", `p{height:60px;background:#f00}`)
	dot, err := base64.StdEncoding.DecodeString(blueDot)
	if err != nil {
		t.Fatal(err)
	}
	s.page("https://img.test/dot.png", "200 OK\r\nContent-Type: image/png", string(dot))
	s.page("https://a.test/old", "301 Moved\r\nLocation: /new?x=1", "")
	s.page("https://a.test/new?x=1", "200 OK\r\nContent-Type: text/html", "<p>moved here")
	s.page("https://a.test/cyrillic", "200 OK\r\nContent-Type: text/html; charset=windows-1251",
		"<title>\xcf\xf0\xe8\xe2\xe5\xf2</title><meta charset=windows-1251><a href=/x title='\xcf &eacute;'>y</a>")
	s.page("https://a.test/gone", "404 Not Found\r\nContent-Type: text/html", "<p>gone")
	s.add(warc.Revisit, "https://a.test/", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", func(r *warc.Record) {
		r.Profile, r.RefersToURI, r.RefersToDate = warc.ProfileIdentical, "https://a.test/", began
	})
	s.add(warc.Revisit, "https://a.test/new?x=1", "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", func(r *warc.Record) {
		r.Profile, r.RefersToURI, r.RefersToDate = warc.ProfileNotModified, "https://a.test/new?x=1", began.Add(5*time.Second)
	})
	return h
}

// ask answers a request, whose header fields are pairs of name and value.
func ask(t *testing.T, h http.Handler, path string, fields ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:80/", http.NoBody)
	r.RequestURI, r.Host = path, "127.0.0.1:80"
	if _, query, ok := strings.Cut(path, "?"); ok {
		r.URL.RawQuery = query
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

// A page is shown as it was: unpacked, in UTF-8, with references that lead into the archive, and with a bar. What
// would forbid that is left out.
func TestHandler_showsAPage(t *testing.T) {
	h := site(t)
	resp, body := ask(t, h, "/20260102030405/https://a.test/")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
		resp.Header.Get("Memento-Datetime") != "Fri, 02 Jan 2026 03:04:05 GMT" || resp.Header.Get("Set-Cookie") != "" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	for _, want := range []string{
		`<link rel="stylesheet" href="/20260102030405/https://a.test/style.css">`,
		`<img src="/20260102030405/https://img.test/dot.png" width="60" height="60" alt="&#34;dot&#34;">`,
		`<a href="/20260102030405/https://a.test/old#part">`, `href="mailto:x@a.test"`, `href="#here"`,
		`action="/20260102030405/https://b.test/send"`, "archived 2026-01-02 03:04:05 UTC",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the page:\n%s", want, body)
		}
	}
	if strings.Contains(body, "http-equiv") || strings.Contains(body, "integrity") {
		t.Errorf("the page still forbids what the archive serves:\n%s", body)
	}
	policy := resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{"sandbox ", "default-src 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) || strings.Contains(policy, "script") {
			t.Errorf("policy %q has no %q", policy, want)
		}
	}
	_, frame := ask(t, h, "/20260102030405/https://a.test/", "Sec-Fetch-Dest", "iframe")
	if strings.Contains(frame, "archived") {
		t.Error("a frame has a bar")
	}
}

// Each kind of address and of capture has its answer.
func TestHandler_answers(t *testing.T) {
	h := site(t)
	const at = "/20260102030405/"
	for _, c := range []struct {
		path   string
		fields []string
		status int
		to     string // of a redirect
		body   string // is in it
	}{
		{"/https://a.test/", nil, 302, "/20260102030413/https://a.test/", ""}, // the last one, a revisit
		{"/2026/https://a.test/", nil, 302, at + "https://a.test/", ""},
		{"/20260102030413/https://a.test/", nil, 200, "", "a link</a>"},
		{at + "https:/a.test/new?x=1", nil, 200, "", "moved here"},             // a slash was lost
		{"/20260102030414/https://a.test/new?x=1", nil, 200, "", "moved here"}, // it was not modified since
		{at + "https://a.test/old", nil, 302, at + "https://a.test/new?x=1", ""},
		{at + "https://a.test/gone", nil, 404, "", "<p>gone"},
		{at + "https://a.test/none", nil, 404, "", "The archive has no capture"},
		{at + "https://a.test/style.css", nil, 200, "", `@import "/20260102030405/https://a.test/more.css"; ` +
			`body{background:url("/20260102030405/https://a.test/bg.png")} ` +
			`p::after{content:"styled";background:url('data:,x')}`},
		{"/20260102030405id_/https://a.test/style.css", nil, 200, "", `@import "more.css"; body{background:url(/bg.png)}`},
		{"/20260102030405im_/https://img.test/dot.png", nil, 200, "", "PNG"},
		{at + "https://a.test/cyrillic", nil, 200, "", "<title>Привет</title>" +
			`<a href="/20260102030405/https://a.test/x" title="П é">y</a>`},
		{"/logo.png?v=1", []string{"Referer", "http://127.0.0.1:80" + at + "https://a.test/dir/page"}, 302,
			at + "https://a.test/logo.png?v=1", ""},
		{"/logo.png", nil, 404, "", "no such address"},
		{"/", nil, 200, "", `<a href="/20260102030413/https://a.test/">Start</a>`},
		{"/?url=a.test/new", nil, 200, "", `/20260102030410/https://a.test/new?x=1"`},
		{"/?url=https://a.test/gone", nil, 302, "/https://a.test/gone", ""},
		{"/?url=%3Cscript%3E", nil, 200, "", "no address of the web"},
		{"/captures?url=https://a.test/", nil, 200, "", "unchanged"},
		{"/cdx?url=a.test/*&fl=timestamp&output=text&filter=status:404", nil, 200, "", "20260102030412\n"},
		{"/cdx?url=a.test&page=1", nil, 400, "", "not supported"},
		{"/", []string{"Host", "rebound.example"}, 421, "", ""},
		{"/", []string{"Host", "LOCALHOST"}, 200, "", ""},
	} {
		resp, body := ask(t, h, c.path, c.fields...)
		if resp.StatusCode != c.status || resp.Header.Get("Location") != c.to || !strings.Contains(body, c.body) {
			t.Errorf("%s: %d to %q, want %d to %q with %q\n%s", c.path, resp.StatusCode, resp.Header.Get("Location"),
				c.status, c.to, c.body, body)
		}
		if resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s has no policy", c.path)
		}
	}
}

// References are rewritten in all the forms that HTML has. What a browser would connect to by itself is left out, and
// no text is a tag, wherever it stands.
func TestRewriter_rewritesReferences(t *testing.T) {
	for in, want := range map[string]string{
		`<img srcset="a.png 1x, /b,c.png 2x,d">`: `<img srcset="/1/http://a.test/d/a.png 1x, /1/http://a.test/b,c.png 2x, ` +
			`/1/http://a.test/d/d">`,
		`<base href="/e/"><a href=x>`:    `<base href="/1/http://a.test/e/"><a href="/1/http://a.test/e/x">`,
		`<p style="background:url(x)">`:  `<p style="background:url(&#34;/1/http://a.test/d/x&#34;)">`,
		`<style>@import url(x);</style>`: `<style>@import url("/1/http://a.test/d/x");</style>`,
		`<meta http-equiv=refresh content="3; URL='/x'">`: `<meta http-equiv="refresh" ` +
			`content="3; url=/1/http://a.test/x">`,
		`<img data-src=x>`:                           `<img src="/1/http://a.test/d/x">`,
		`<img src=y data-src=x>`:                     `<img src="/1/http://a.test/d/y" data-src="x">`,
		`<svg><use xlink:href="s.svg#a"></svg>`:      `<svg><use xlink:href="/1/http://a.test/d/s.svg#a"></svg>`,
		`<object data=x><a data=x>`:                  `<object data="/1/http://a.test/d/x"><a data="x">`,
		`<script>var a = "<a href=x>"</script>b`:     `b`,
		`<!-- <a href=x> --><A HREF='javascript:x'>`: `<a>`,
		`<p class=x>5 < 6 &amp; 7 <b`:                `<p class="x">5 &lt; 6 &amp; 7 `,
		`<frameset><frame src=x></frameset>`:         `<frameset><frame src="/1/http://a.test/d/x"></frameset>`,
		`<noscript><img src=x></noscript>`:           `<noscript><img src="/1/http://a.test/d/x"></noscript>`,
		`<svg><style><p><a href=x></style>`:          `<svg><style>< p>< a href=x></style>`,
		`<svg><title><a href=x></title>`:             `<svg><title>&lt;a href=x></title>`,
		`<style>p{content:"</p>"} @media (1px<w){}`:  `<style>p{content:"\3c /p>"} @media (1px< w){}</style>`,
		`<xmp><b></xmp><plaintext><b>`:               `<pre>&lt;b></pre><pre>&lt;b></pre>`,
		`<iframe src=data:,x srcdoc="<a href=x>"><b></iframe>`: `<iframe srcdoc="&lt;a href=&#34;/1/http://a.test/d/x&#34;` +
			`&gt;"></iframe>`,
		`<link rel="preconnect stylesheet" href=x>`:   `<link rel="stylesheet" href="/1/http://a.test/d/x">`,
		`<link rel=dns-prefetch href=//b.test>`:       ``,
		`<a ping=x onclick=y title="a>b&lt;c" href=>`: `<a title="a&gt;b&lt;c" href="">`,
		`<a href="/?a=1&copy=2&amp;lt=3&notit;&eacute">`: `` +
			`<a href="/1/http://a.test/?a=1&amp;copy=2&amp;lt=3&amp;notit;%C3%A9">`,
		`<a href="//b.test/` + strings.Repeat("x", 70_000) + `">x`: `<a>x`,
		`<?xml version="1.0"?><![CDATA[ <a href=x> ]]>`:            ` ]]>`,
		`<!DOCTYPE html PUBLIC "<x">`:                              `<!DOCTYPE html PUBLIC " x">`,
		`<a/href=x/title='"'/>`:                                    `<a href="/1/http://a.test/d/x/title='%22'/">`,
	} {
		var out strings.Builder
		c := new(lookup.Capture)
		c.URL = []byte("http://a.test/d/page")
		err := rewriteHTML(&out, strings.NewReader(in), "text/html; charset=utf-8", target{stamp: "1"}, c, barOptions{})
		if err != nil || out.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s, %v", in, out.String(), want, err)
		}
	}
}

// endless is a text again and again, length bytes long.
type endless struct {
	text       string
	at, length int
}

// Read reads on.
func (e *endless) Read(p []byte) (n int, err error) {
	for p = p[:min(len(p), e.length)]; n < len(p); {
		k := copy(p[n:], e.text[e.at:])
		n, e.at = n+k, (e.at+k)%len(e.text)
	}
	if e.length -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A page of 5 MiB of one thing takes no memory in proportion. What one tag and one address may take is bounded.
func TestRewriter_takesNoMemoryInProportion(t *testing.T) {
	const size, most = 5 << 20, 24 << 20 // bytes of the page, and of all memory that was ever taken
	for begin, text := range map[string]string{
		`<img srcset="`: `/a 1x,`, `<p style="`: `background:url(a);`, `<iframe srcdoc="`: `<a href=x>`, `<p `: `a `,
		`<style>"`: `a`, `<style>url(`: `a`, `<style>`: `url(`, `<!--`: `-a`, `<title>`: `<a`, `<script>`: `</scrip`,
		``: `<`, `x`: `<div>`, `<p title="`: `&amp`, `<base href="/` + strings.Repeat("a", 6000) + `"><img srcset="`: `a,`,
		`<!DOCTYPE `: `a`, `</`: `a`, `<a `: `bbbbbb`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := new(lookup.Capture)
		c.URL = []byte("http://a.test/d/page")
		in := io.MultiReader(strings.NewReader(begin), &endless{text: text, length: size})
		err := rewriteHTML(io.Discard, in, "text/html; charset=utf-8", target{stamp: "20260102030405"}, c,
			barOptions{isShown: true})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > most && !invariants.Race {
			t.Errorf("%.20s%s...: %d bytes, %v", begin, text, used, err)
		}
	}
}

// What unpacks to far more than is stored is not sent to its end.
func TestHandler_endsABomb(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.Copy(z, &endless{text: "\x00", length: 200 << 20}); err != nil {
		t.Fatal(err)
	}
	_ = z.Close() // into memory
	s, h := emptyArchive(t)
	s.page("http://a.test/film", "200 OK\r\nContent-Type: video/webm\r\nContent-Encoding: gzip", packed.String())
	server := httptest.NewServer(h)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/20260102030405/http://a.test/film",
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil || n > expansionFree+2*expansionMost*int64(packed.Len()) {
		t.Errorf("%d bytes are sent of %d, %v", n, packed.Len(), err)
	}
}

// No bytes make the rewriter panic, and what it does not understand stays.
func FuzzRewriteHTML(f *testing.F) {
	f.Add(`<a href="x">`, "text/html")
	f.Add("<base href=//><img srcset=', ,a 1x'>", "")
	f.Fuzz(func(t *testing.T, in, kind string) {
		c := new(lookup.Capture)
		c.URL = []byte("http://a.test/d/page")
		if err := rewriteHTML(io.Discard, strings.NewReader(in), kind, target{stamp: "1"}, c,
			barOptions{isShown: true}); err != nil {
			t.Error(err)
		}
		if err := rewriteSheet(io.Discard, strings.NewReader(in), target{}, c.URL); err != nil {
			t.Error(err)
		}
	})
}

// repeat adds a revisit of the first capture.
func (s *stored) repeat(url, kind, of string) {
	s.t.Helper()
	s.add(warc.Revisit, url, "HTTP/1.1 200 OK\r\nContent-Type: "+kind+"\r\n\r\n", func(r *warc.Record) {
		r.Profile, r.RefersToURI, r.RefersToDate = warc.ProfileIdentical, of, began
	})
}

// Without a type the first bytes say what a capture is. Only a page is rewritten, also in a frame.
func TestHandler_findsOutTheType(t *testing.T) {
	s, h := emptyArchive(t)
	s.page("http://a.test/page", "200 OK\r\nServer: x", "<!DOCTYPE html><meta charset=windows-1251>\xcf<a href=/x>y</a>")
	s.page("http://a.test/picture", "200 OK\r\nServer: x", "\x89PNG\r\n\x1a\n")
	s.page("http://a.test/nothing", "200 OK\r\nServer: x", "")
	s.page("http://a.test/style", "200 OK\r\nServer: x", "p{background:url(/x)}")
	s.page("http://a.test/labels", "200 OK\r\nContent-Type: text/html;charset=windows-1251;charset=utf-8", "\xcf")
	s.add(warc.Response, "http://a.test/feed", "HTTP/1.1 200 OK\r\nContent-Type: xml\r\n\r\n<rss/>", func(r *warc.Record) {
		r.Extra = []warc.Field{{Name: "WARC-Identified-Payload-Type", Value: "text/xml"}} // as the crawl has read it
	})
	for _, c := range []struct{ url, dest, kind, body string }{
		{"labels", "iframe", "text/html; charset=utf-8", "П"},
		{"feed", "document", "text/xml", "<rss/>"},
		{"style", "style", "text/css", `p{background:url("/20260102030405/http://a.test/x")}`},
		{"page", "iframe", "text/html; charset=utf-8", `П<a href="/20260102030405/http://a.test/x">y</a>`},
		{"picture", "document", "image/png", "\x89PNG\r\n\x1a\n"},
		{"nothing", "document", "text/plain; charset=utf-8", ""},
	} {
		resp, body := ask(t, h, "/20260102030405/http://a.test/"+c.url, "Sec-Fetch-Dest", c.dest)
		if resp.Header.Get("Content-Type") != c.kind || strings.TrimPrefix(body, "<!DOCTYPE html>") != c.body {
			t.Errorf("%s: %q %q, want %q %q", c.url, resp.Header.Get("Content-Type"), body, c.kind, c.body)
		}
	}
}

// A browser gets a part of a film, and nothing else if the film is compressed or rewritten.
func TestHandler_sendsAPart(t *testing.T) {
	s, h := emptyArchive(t)
	s.page("http://a.test/film", "200 OK\r\nContent-Type: video/webm\r\nContent-Length: 10", "0123456789")
	s.page("http://a.test/page", "200 OK\r\nContent-Type: text/css\r\nContent-Length: 4", "p {}")
	s.page("http://a.test/chunks", "200 OK\r\nContent-Type: video/webm\r\nContent-Encoding: gzip\r\n"+
		"Transfer-Encoding: chunked", chunked("0123456789"))
	for _, c := range []struct {
		url, asked string
		status     int
		said, body string
	}{
		{"film", "bytes=2-4", 206, "bytes 2-4/10", "234"},
		{"film", "bytes=7-", 206, "bytes 7-9/10", "789"},
		{"film", "bytes=7-99", 206, "bytes 7-9/10", "789"},
		{"film", "bytes=-3", 206, "bytes 7-9/10", "789"},
		{"film", "bytes=-99", 206, "bytes 0-9/10", "0123456789"},
		{"film", "bytes=0-", 206, "bytes 0-9/10", "0123456789"}, // that is how a browser finds out that it may seek
		{"film", "bytes=10-", 416, "bytes */10", "There is no such part.\n"},
		{"film", "bytes=-0", 416, "bytes */10", "There is no such part.\n"},
		{"film", "bytes=1-2,4-5", 200, "", "0123456789"},
		{"film", "bytes=4-2", 200, "", "0123456789"},
		{"film", "bytes=x-2", 200, "", "0123456789"},
		{"film", "lines=1-2", 200, "", "0123456789"},
		{"film", "", 200, "", "0123456789"},
		{"page", "bytes=0-1", 200, "", "p {}"},
		{"chunks", "bytes=0-1", 200, "", "0123456789"},
	} {
		resp, body := ask(t, h, "/20260102030405/http://a.test/"+c.url, "Range", c.asked)
		if resp.StatusCode != c.status || resp.Header.Get("Content-Range") != c.said || body != c.body {
			t.Errorf("%s, %q: %d %q %q, want %d %q %q", c.url, c.asked, resp.StatusCode, resp.Header.Get("Content-Range"),
				body, c.status, c.said, c.body)
		}
	}
}
