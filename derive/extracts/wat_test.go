package extracts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orbweaver/derive/derivetest"
	"orbweaver/warc"
)

// describe returns the JSON of each record of an archive, in order.
func describe(t *testing.T, a *derivetest.Archive) (all []map[string]any) {
	t.Helper()
	_, wat := made(t, a)
	eachRecord(t, wat, func(rec *warc.RecordRead) {
		if rec.Type != warc.Metadata {
			return
		}
		var v map[string]any
		if err := json.Unmarshal(rec.Block, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}, func(*warc.Fault) {})
	return all
}

// at returns a value by the names of the objects around it.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

// everything is a page that has each element that Common Crawl describes.
const everything = `<!DOCTYPE html><html lang=en xml:lang=en-GB><head><base href=/b/ target=x><title>A &amp;
 B</title><meta charset=utf-8><meta name=author content="A &lt; B">
<meta property=og:image content="data:image/png;base64,AA">
<meta http-equiv=refresh content="5; url=/r"><meta itemprop=x content=dropped>
<link rel=alternate type=text/xml hreflang=de href=/feed>
<script src=s.js type=module></script><style>p{background:url(bg.png)}</style></head>
<body background=b.gif><a href="u&amp;v" target=_top title=t rel="nofollow me" hreflang=de type=text/html
 alt=l>An <b>anchor</b><br>text</a>
<a name=n>no link</a><a href="mailto:me@a.test">mail</a><a href="data:text/plain;x,abc"></a>
<img src=i.png alt="An image" title=T longdesc=d.html srcset="i2.png 2x">
<form action=/search method=post target=y>
<input type=image src=go.png formaction=/f><button formaction=/g></button></form>
<map><area href=area rel=tag></map><iframe src=frame></iframe><embed src=e><object data=o codebase=c></object>
<video src=v poster=p>
<source src=w><track src=t></video><audio src=m></audio><blockquote cite=q></blockquote>
<q cite=q2></q><del cite=q3></del><ins cite=q4></ins>
<div data-href=/d data-uri=/e style="background:url(no.png)"></div><menuitem icon=k></body></html>`

const described = `{
  "Head": {
    "Title": "A & B",
    "Base": "/b/",
    "Metas": [
      {"name": "HTML@/lang", "content": "en"},
      {"name": "HTML@/xml:lang", "content": "en-GB"},
      {"name": "author", "content": "A < B"},
      {"content": "data:image/png;base64,", "property": "og:image"},
      {"content": "5; url=/r", "http-equiv": "refresh"}
    ],
    "Link": [{"path": "LINK@/href", "url": "/feed", "rel": "alternate", "type": "text/xml"}],
    "Scripts": [{"path": "SCRIPT@/src", "url": "s.js", "type": "module"}]
  },
  "Links": [
    {"path": "STYLE/#text", "href": "bg.png"},
    {"path": "BODY@/background", "url": "b.gif"},
    {"path": "A@/href", "url": "u&v", "target": "_top", "alt": "l", "title": "t", "rel": "nofollow me",
      "hreflang": "de", "type": "text/html", "text": "An anchor text"},
    {"path": "A@/href", "url": "mailto:me@a.test", "text": "mail"},
    {"path": "A@/href", "url": "data:text/plain;x,"},
    {"path": "IMG@/src", "url": "i.png", "alt": "An image", "title": "T"},
    {"path": "IMG@/longdesc", "url": "d.html"},
    {"path": "FORM@/action", "url": "/search", "target": "y", "method": "post"},
    {"path": "INPUT@/src", "url": "go.png"},
    {"path": "INPUT@/formaction", "url": "/f"},
    {"path": "BUTTON@/formaction", "url": "/g"},
    {"path": "AREA@/href", "url": "area", "rel": "tag"},
    {"path": "IFRAME@/src", "url": "frame"},
    {"path": "EMBED@/src", "url": "e"},
    {"path": "OBJECT@/codebase", "url": "c"},
    {"path": "OBJECT@/data", "url": "o"},
    {"path": "VIDEO@/src", "url": "v"},
    {"path": "VIDEO@/poster", "url": "p"},
    {"path": "SOURCE@/src", "url": "w"},
    {"path": "TRACK@/src", "url": "t"},
    {"path": "AUDIO@/src", "url": "m"},
    {"path": "BLOCKQUOTE@/cite", "url": "q"},
    {"path": "Q@/cite", "url": "q2"},
    {"path": "DEL@/cite", "url": "q3"},
    {"path": "INS@/cite", "url": "q4"},
    {"path": "DIV@/data-href", "url": "/d"},
    {"path": "DIV@/data-uri", "url": "/e"},
    {"path": "MENUITEM@/icon", "url": "k"}
  ]
}`

// A page that has everything is described as Common Crawl does it.
func TestWAT_page(t *testing.T) {
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", everything)
	got := at(describe(t, &a)[0], "Envelope.Payload-Metadata.HTTP-Response-Metadata.HTML-Metadata")
	var want any
	if err := json.Unmarshal([]byte(described), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Values of fields with the same name are an array, in every list of fields.
func TestWAT_repeatedFields(t *testing.T) {
	var a derivetest.Archive
	head := "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nLink: </x>\r\nset-cookie: c=3\r\nSet-Cookie: b=2\r\n\r\n"
	a.Record("response", "http://a.test/", "application/http;msgtype=response", head+"body",
		"WARC-Protocol: h2", "WARC-Protocol: tls/1.3", "WARC-Protocol: x")
	a.Record("warcinfo", "", "application/warc-fields", "operator: a\r\noperator: b\r\n")
	all := describe(t, &a)
	for path, want := range map[string]any{
		"Envelope.WARC-Header-Metadata.WARC-Protocol":                                  []any{"h2", "tls/1.3", "x"},
		"Envelope.WARC-Header-Metadata.WARC-Type":                                      "response",
		"Envelope.Payload-Metadata.HTTP-Response-Metadata.Headers.Set-Cookie":          []any{"a=1", "b=2"},
		"Envelope.Payload-Metadata.HTTP-Response-Metadata.Headers.set-cookie":          "c=3",
		"Envelope.Payload-Metadata.HTTP-Response-Metadata.Headers.Link":                "</x>",
		"Envelope.Payload-Metadata.HTTP-Response-Metadata.Entity-Length":               "4",
		"Envelope.Payload-Metadata.HTTP-Response-Metadata.Entity-Trailing-Slop-Length": "0",
	} {
		if d := cmp.Diff(want, at(all[0], path)); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	if d := cmp.Diff([]any{"a", "b"}, at(all[1], "Envelope.Payload-Metadata.WARC-Info-Metadata.operator")); d != "" {
		t.Error(d)
	}
}

// A request, and the answer of a name server, are described whole. The values of the request are those of Common Crawl
// for the same record, except for Headers-Length, which leaves out two bytes there.
func TestWAT_requestAndNames(t *testing.T) {
	var a derivetest.Archive
	a.Record("request", "https://an.wikipedia.org/wiki/Escopete", "application/http; msgtype=request",
		"GET /wiki/Escopete HTTP/1.1\r\nUser-Agent: CCBot/2.0 (https://commoncrawl.org/faq/)\r\n"+
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"+
			"Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: br,gzip\r\nHost: an.wikipedia.org\r\n"+
			"Connection: Keep-Alive\r\n\r\n")
	a.Record("response", "dns:a.test", "text/dns",
		"20260102030405\na.test. 60 IN A 192.0.2.1\na.test.\t5 IN TXT \"x y\"\n")
	all := describe(t, &a)
	var want any
	if err := json.Unmarshal([]byte(`{"Actual-Content-Type":"application/http; msgtype=request",
		"HTTP-Request-Metadata":{"Request-Message":{"Method":"GET","Path":"/wiki/Escopete","Version":"HTTP/1.1"},
		"Headers-Length":"265","Headers":{"User-Agent":"CCBot/2.0 (https://commoncrawl.org/faq/)",
		"Accept":"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8","Accept-Language":"en-US,en;q=0.5",
		"Accept-Encoding":"br,gzip","Host":"an.wikipedia.org","Connection":"Keep-Alive"},"Entity-Length":"0",
		"Entity-Digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ","Entity-Trailing-Slop-Length":"0"},
		"Actual-Content-Length":"265","Trailing-Slop-Length":"4","Block-Digest":"sha1:IE7NEN3QEJHUCYRRGVMHDDW3BEHFRQ6V"}`),
		&want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, at(all[0], "Envelope.Payload-Metadata")); d != "" {
		t.Error(d)
	}
	if got := at(all[0], "Envelope.Format"); got != "WARC/1.0" {
		t.Error(got)
	}
	if d := cmp.Diff(map[string]any{"Date": "20260102030405", "Entries": []any{
		map[string]any{"Name": "a.test.", "TTL": "60", "Net-Class": "IN", "Type": "A", "Value": "192.0.2.1"},
		map[string]any{"Name": "a.test.", "TTL": "5", "Net-Class": "IN", "Type": "TXT", "Value": "\"x y\""},
	}}, at(all[1], "Envelope.Payload-Metadata.DNS-Metadata")); d != "" {
		t.Error(d)
	}
}

// A body that is longer than its Content-Length has what follows as slop, and no digest over it.
func TestWAT_entity(t *testing.T) {
	var a derivetest.Archive
	a.Response("http://a.test/1", 200, "text/plain", "body", "Content-Length: 4")
	a.Response("http://a.test/2", 200, "text/plain", "body and more", "Content-Length: 4")
	all := describe(t, &a)
	const response = "Envelope.Payload-Metadata.HTTP-Response-Metadata."
	for i, slop := range []string{"0", "9"} {
		if at(all[i], response+"Entity-Length") != "4" || at(all[i], response+"Entity-Trailing-Slop-Length") != slop ||
			at(all[i], response+"Entity-Digest") != at(all[0], response+"Entity-Digest") {
			t.Error(at(all[i], "Envelope.Payload-Metadata"))
		}
	}
}
