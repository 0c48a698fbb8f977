package fetch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// pageOf returns a page that is not any pool's, with that head.
func pageOf(head string) *Page { return &Page{Raw: []byte(head), HeadLen: len(head)} }

func TestHeaderView(t *testing.T) {
	p := pageOf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A: one\r\nnonsense\r\n: no name\r\nx-a :two \r\n" +
		"Folded: a\r\n  b\r\n\tc\r\nLocation:/x\nEmpty:\r\nLast: z\r\n\r\n")
	for name, want := range map[string]string{
		"content-type": "text/html", "X-A": "one", "folded": "a b c", "LOCATION": "/x", "Empty": "", "last": "z", "none": "",
	} {
		if got := string(p.Head().Value(name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if p.Head().Value("empty") == nil || p.Head().Value("none") != nil {
		t.Error("an empty field is not the same as none")
	}
	var all []string
	for v := range p.Head().Values("x-a") {
		all = append(all, string(v))
	}
	if !slices.Equal(all, []string{"one", "two"}) {
		t.Errorf("%q", all)
	}
	if string(p.Raw[:15]) != "HTTP/1.1 200 OK" || len(p.Head()) != len(p.Raw) {
		t.Error("reading changed the page")
	}
	p = pageOf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLast: z\r\n\r\n")
	n := testing.AllocsPerRun(100, func() {
		_, _, _ = p.Head().ContentType(), p.Head().Location(), p.Head().Value("last")
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Extreme values, several values, and every form of a date: the longest counts, however long it is, and none is below
// nothing. The policy has the limit.
func TestHostile_H30_anAbsurdRetryAfterIsAWaitThatThePolicyCanLimit(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "0": 0, "-1": 0, "1000000000": 1e9 * time.Second, "99999999999999999999999": math.MaxInt64,
		"172800": 48 * time.Hour, "9223372037": math.MaxInt64,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Friday, 02-Jan-26 03:05:05 GMT": time.Minute,
		"Fri Jan  2 03:05:05 2026": time.Minute, "Fri, 31 Dec 9999 23:59:59 GMT": math.MaxInt64,
		"Thu, 01 Jan 1970 00:00:00 GMT": 0, "10\r\nRetry-After: 20": 20 * time.Second,
		"-1\r\nRetry-After: 999999": 999999 * time.Second, "x\r\nRetry-After: 3": 3 * time.Second,
		"": -1, "soon": -1, "1.5": -1, "12 s": -1, "-": -1,
	} {
		p := pageOf(fmt.Sprintf("HTTP/1.1 503 U\r\nRetry-After: %s\r\n\r\n", value))
		asked, ok := p.Head().RetryAfter(now)
		if ok != (want >= 0) || (ok && asked.Wait != want) {
			t.Errorf("%q: %+v %v", value, asked, ok)
		}
		if negative := strings.Contains(value, "-1") || strings.Contains(value, "1970"); asked.Negative != negative {
			t.Errorf("%q: negative %v", value, asked.Negative)
		}
	}
	if _, ok := pageOf("HTTP/1.1 503 U\r\n\r\n").Head().RetryAfter(now); ok {
		t.Error("no header, and a time")
	}
}

// H19: nothing that a server or a normal form contains can end a line of the request.
func TestHostile_H19_aRequestIsOne(t *testing.T) {
	target := &Target{URL: []byte("http://h\r\n/x\r\nEvil: 1\r\n\r\nGET /y z\x7f#frag"), Host: []byte("h\r\nEvil: 1")}
	got := string(appendRequest(nil, target, false, []byte("\r\n")))
	if want := "GET /x%0D%0AEvil:%201%0D%0A%0D%0AGET%20/y%20z%7F HTTP/1.1\r\nHost: h%0D%0AEvil:%201\r\n\r\n"; got != want {
		t.Errorf("%q", got)
	}
}

func TestRequestsCarryWhatTheyAreTold(t *testing.T) {
	target := &Target{
		URL:             []byte("http://h/x"),
		Host:            []byte("h"),
		Cookie:          []byte("a=b"),
		IfNoneMatch:     []byte(`W/"7"`),
		IfModifiedSince: []byte("Mon"),
	}
	got := string(appendRequest(nil, target, false, []byte("\r\n")))
	want := "GET /x HTTP/1.1\r\nHost: h\r\nCookie: a=b\r\nIf-None-Match: W/\"7\"\r\nIf-Modified-Since: Mon\r\n\r\n"
	if got != want {
		t.Errorf("%q", got)
	}
}

func TestRequestTarget(t *testing.T) {
	for url, want := range map[string]string{
		"http://h/": "/", "http://h/a/b?c#d": "/a/b?c", "http://h": "/", "http://h?x": "/?x",
		"https://h:1/p?u=http://g/": "/p?u=http://g/",
	} {
		got := string(appendRequest(nil, &Target{URL: []byte(url), Host: []byte("h")}, false, nil))
		if want := "GET " + want + " HTTP/1.1\r\nHost: h\r\n"; got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
}

func TestFromOnlyForMail(t *testing.T) {
	for contact, want := range map[string]string{
		"me@example.org": "me@example.org", "mailto:me@example.org": "me@example.org", "https://example.org/@me": "", "": "",
	} {
		o := Options{UserAgent: "x", Contact: contact}
		line := ""
		if want != "" {
			line = "From: " + want + "\r\n"
		}
		if got := string(manners(&o, false)); got != "User-Agent: x\r\n"+line+"Connection: close\r\n\r\n" {
			t.Errorf("%s: %q", contact, got)
		}
	}
}

func TestServerName(t *testing.T) {
	for host, want := range map[string]string{
		"a.example": "a.example", "a.example:8443": "a.example", "[::1]:443": "::1", "[::1]": "::1", "1.2.3.4:1": "1.2.3.4",
		"a.example.": "a.example",
	} {
		if got := certificateName([]byte(host)); got != want {
			t.Errorf("%s: %q", host, got)
		}
	}
}

// The media type of an ordinary head costs no memory: each page is asked for it several times.
func TestHead_contentTypeAllocatesNothing(t *testing.T) {
	h := Head("HTTP/1.1 200 OK\r\nServer: a\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5\r\n\r\n")
	if n := testing.AllocsPerRun(100, func() { h.ContentType() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkContentType(b *testing.B) {
	h := Head("HTTP/1.1 200 OK\r\nServer: nginx/1.18.0 (Ubuntu)\r\nDate: Fri, 27 Nov 2026 10:00:00 GMT\r\n" +
		"Content-Type: text/html; charset=utf-8\r\nContent-Length: 12345\r\nConnection: keep-alive\r\n" +
		"Last-Modified: Fri, 27 Nov 2026 09:00:00 GMT\r\nETag: \"5f-abc\"\r\nVary: Accept-Encoding\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		h.ContentType()
	}
}
