package parse

import (
	"strings"
	"testing"
)

// htmlLinks are the links of an HTML page in UTF-8.
func htmlLinks(t *testing.T, body string) string {
	t.Helper()
	r, err := NewScanner(Options{}).Scan([]byte(body), []byte("text/html; charset=utf-8"))
	if err != nil {
		t.Errorf("%.60q: %v", body, err)
	}
	return show(r)
}

// In an attribute a reference without its semicolon is left alone where a letter, a digit or an equals sign follows;
// numbers that name no character name U+FFFD; and nothing is decoded twice.
func TestHostile_P03_characterReferencesAreReadByTheStandard(t *testing.T) {
	for raw, want := range map[string]string{
		"/&amp;amp;": "/&amp;", "/?a&amp;b": "/?a&b", "/?a&ampb": "/?a&ampb", "/?a&amp=b": "/?a&amp=b",
		"/?a&amp": "/?a&", "/?a&amp-b": "/?a&-b",
		"/?a&copy=1": "/?a&copy=1", "/?a&copy": "/?a\u00a9", "/?a&copy;=1": "/?a\u00a9=1", "/?a&notit;": "/?a&notit;",
		"/?a&notin;":     "/?a\u2209",
		"/?a&lt;&LT&Lt;": "/?a<<\u226a", "/?a&nosuch;&": "/?a&nosuch;&", "/&;&#;&#x;&#xg;&": "/&;&#;&#x;&#xg;&",
		"/&#65;&#65&#x41;&#X41&#x00000041;": "/AAAAA", "/&#65b": "/Ab", "/&#x41z": "/Az", "/&#x41b": "/\u041b",
		"/&#0;&#xD800;&#xDFFF;&#x110000;&#99999999999999999999;&#xFFFFFFFFFFFFFFFFF;": "/" + strings.Repeat("\ufffd", 6),
		"/&#x80;&#150;&#x9f;&#x81;": "/\u20ac\u2013\u0178\u0081", "/&#xFFFE;&#x1FFFF;": "/\ufffe\U0001ffff",
		"/&amp;#65;": "/&#65;", "/&#38;amp;": "/&amp;", "/&NotEqualTilde;": "/\u2242\u0338",
		"/&" + strings.Repeat("a", 1000) + ";":    "/&" + strings.Repeat("a", 1000) + ";",
		"/&#" + strings.Repeat("0", 1000) + "65;": "/A", "java&#115;cript:x": "",
		"j&#x0A;avascript:x": "j\navascript:x", "&#32;/x&#32;": "/x",
	} {
		if want != "" {
			want = "anchor " + want
		}
		if got := htmlLinks(t, `<a href="`+raw+`">`); got != want {
			t.Errorf("%.80q is read as %.80q, want %.80q", raw, got, want)
		}
	}
}

// A link is what a browser shows or loads, and not what stands in comments, scripts, text fields and templates.
func TestHostile_P07_linksAreWhereABrowserSeesThem(t *testing.T) {
	for body, want := range map[string]string{
		`<!-- <a href=no> --><a href=a>`:                                                "anchor a",
		`<!--><a href=a>--!><a href=b>`:                                                 "anchor a\nanchor b",
		`<!-- > <a href=no> --!><a href=a>`:                                             "anchor a",
		`<!doctype html "<a href=no>"><a href=a>`:                                       "anchor a",
		`<![CDATA[<a href=no>]]><a href=a>`:                                             "anchor a",
		`<svg><![CDATA[<a href=no>]]><a href=a>`:                                        "anchor a",
		`<?php <a href=no> ?><a href=a>`:                                                "anchor a",
		`<script>"<a href=no>"</script><a href=a>`:                                      "anchor a",
		`<script><!-- <script></script> <a href=no> --></script><a href=a>`:             "anchor a",
		`<style><a href=no></style><textarea><a href=no></textarea><a href=a>`:          "anchor a",
		`<title><a href=no></title><xmp><a href=no></xmp><a href=a>`:                    "anchor a",
		`<template><a href=no><img src=no></template><a href=a>`:                        "anchor a",
		`<template shadowrootmode=open><a href=a></template>`:                           "anchor a",
		`<noscript><a href=a><img src=b></noscript>`:                                    "anchor a\nimage b",
		`<noframes><a href=a></noframes><noembed><a href=b></noembed>`:                  "anchor a\nanchor b",
		`<template><noframes><a href=no></noframes><!--[if IE]><a href=no><![endif]-->`: "",
		`<svg><a xlink:href=a><image href=b /></a><use href=c /></svg>`:                 "anchor a\nimage b\nuse c",
		`<svg><title><a href=a></title><foreignObject><a href=b><img src=c>`:            "anchor a\nanchor b\nimage c",
		`<math><mtext><a href=a></mtext><annotation-xml encoding=text/html><a href=b>`:  "anchor a\nanchor b",
		`<img srcset="a 1x, b 2x,c,d 3w (x,y), e">`: "image a\nimage b\nimage c,d\n" +
			"image e",
		`<img srcset=",, ,a,,b, ">`:      "image a,,b",
		`<a href=a href=no HREF=no>`:     "anchor a",
		`<a title="<a href=no>" href=a>`: "anchor a",
		`<a title='>' href=a>`:           "anchor a",
		`<a/href=a/><a =x href=b>`:       "anchor a/\nanchor b",
	} {
		if got := htmlLinks(t, body); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", body, got, want)
		}
	}
	const candidates = 100_000
	r, err := NewScanner(Options{}).Scan([]byte("<img srcset='"+strings.Repeat("/a.png 1x, ", candidates)+"'>"),
		[]byte("text/html"))
	if err != nil || len(r.Links) != 20_000 || r.LinksDropped != candidates-20_000 {
		t.Errorf("of %d candidates %d are taken, %d counted (%v)", candidates, len(r.Links), r.LinksDropped, err)
	}
}

// JSON is not searched for links, however deep it nests. Nested brackets in a style sheet cost nothing extra.
func TestHostile_P11_depthCostsNothing(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 100_000) + `"http://a/"`
	for media, body := range map[string]string{
		"application/json": deep, "application/ld+json": deep, "text/json": deep,
	} {
		r, err := NewScanner(Options{}).Scan([]byte(body), []byte(media))
		if err != nil || r.Format != None || len(r.Links)+r.LinksDropped > 0 {
			t.Errorf("%s is read as %v, with %d links (%v)", media, r.Format, len(r.Links), err)
		}
	}
	for _, body := range []string{
		strings.Repeat("@media x{", 100_000) + "a{b:url(/in)}", strings.Repeat("(", 100_000) + "url(/in)",
		strings.Repeat("[url", 100_000) + " url(/in)",
		strings.Repeat("/*", 100_000) + "*/url(/in)", "@import " + strings.Repeat(" ", 100_000) + "'/in'",
	} {
		r, err := NewScanner(Options{}).Scan([]byte(body), []byte("text/css"))
		if err != nil || show(r) != "css /in" {
			t.Errorf("%.40q...: %s (%v)", body, show(r), err)
		}
	}
	r, err := NewScanner(Options{}).Scan([]byte(strings.Repeat("@import '/a.css';", 100_000)), []byte("text/css"))
	if err != nil || len(r.Links) != 20_000 || r.LinksDropped != 80_000 {
		t.Errorf("of 100000 imports %d are taken, %d counted (%v)", len(r.Links), r.LinksDropped, err)
	}
}
