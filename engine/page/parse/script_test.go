package parse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// found returns kinds and references of the links of a body.
func linksWith(t *testing.T, o Options, body, media string) string {
	t.Helper()
	res, err := NewScanner(o).Scan([]byte(body), []byte(media))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range res.Links {
		out = append(out, fmt.Sprintf("%s:%s", l.Kind, l.Ref))
	}
	return strings.Join(out, " ")
}

// What scripts load when an element comes into view, and the URLs of meta properties, are links of every crawl.
func TestLinksOfTodaysPages(t *testing.T) {
	for body, want := range map[string]string{
		`<img src=a.gif data-src=b.jpg data-srcset="c.jpg 1x, d.jpg 2x" srcset="e.jpg 2x">`: "image:a.gif image:e.jpg " +
			"image:b.jpg image:c.jpg image:d.jpg",
		`<picture><source data-srcset="a.webp 1x"></picture><iframe data-src=f.html></iframe><video data-src=v.mp4>`: "" +
			"image:a.webp iframe:f.html media:v.mp4",
		`<link rel=preload as=image imagesrcset="a.png 1x, b.png 2x" href=c.png>`: "" +
			"resource:c.png image:a.png image:b.png",
		`<meta property="og:image" content="http://c.example/i.png"><meta name=og:title content=x>`: "" +
			"image:http://c.example/i.png",
		`<meta property=og:url content=/p><meta name="twitter:image" content=t.png>`:    "link:/p image:t.png",
		`<meta itemprop=image content=/m.png><meta name=description content=/x/y.html>`: "image:/m.png",
		`<div data-src=no data-href=no></div><a data-src=no>x</a>`:                      "",
		`<template><img data-src=no></template>`:                                        "",
		`<img data-lazy-src=a.jpg data-lazy-srcset="b.jpg 1x, c.jpg 2x" data-id=7 DATA-ORIGINAL=d.png>`: "image:a.jpg " +
			"image:b.jpg image:c.jpg image:d.png",
		`<img data-hi-res-src=/a.webp?x=1 data-large_image=b.jpg data-full-url=c.gif data-echo=d.avif>`: "" +
			"image:/a.webp?x=1 image:b.jpg image:c.gif image:d.avif",
		`<div data-bg=a.jpg data-background-image="url('b.png')"></div><section data-bgset="no.jpg 1x">`: "" +
			"background:a.jpg css:b.png",
		`<iframe data-lazy-src=/embed/1></iframe><video data-poster=p.jpg data-src=v.mp4>`: "iframe:/embed/1 media:p.jpg " +
			"media:v.mp4",
		`<amp-img src=a.jpg srcset="b.jpg 2x"></amp-img><amp-video src=v.mp4 poster=p.png></amp-video>`: "image:a.jpg " +
			"image:b.jpg media:v.mp4 media:p.png",
		`<img data-a=/1 data-b=/2 data-c=/3 data-d=/4 data-e=/5 data-f=/6 data-g=/7 data-src=/x.jpg>`: "" +
			"image:/x.jpg",
		`<img data-image-title="DSC_0042.JPG" data-image_description=pic.png data-src-alt=a.png>`:                       "",
		`<div data-bg-color="1.png" data-url=/x.png data-full=/y.png></div><button data-url="/delete/1.png">x</button>`: "",
		`<img data-src={{u}} data-lazy-src="${u}.jpg"><img data-src=true><img data-src="<%= a %>">`:                     "",
		`<img data-original=/img/1 data-orig-file=/img/2?w=3><img data-lazy-src=/img/3 data-lazy=1.5>`: "image:/img/1 " +
			"image:/img/2?w=3 image:/img/3",
		`<img data-highres=a.png data-deferred=b.png><link rel=profile href=/no><link rel="schema.DC" href=/no>`: "" +
			"image:a.png image:b.png",
		`<img data-src-template="/x/{width}.jpg" data-thumb=7 data-image-id=img.1 data-url=/share/1 data-caption=a.jpg>`: "",
		`<div data-src=/api/x data-url=/y.html data-full="a b.jpg" data-lazy=true data-img='{"u":"/a.jpg"}'></div>`:      "",
	} {
		if got := linksWith(t, Options{}, body, "text/html"); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// Strings of scripts and of JSON that look like URLs are speculative links, if these are asked for.
func TestSpeculativeLinks(t *testing.T) {
	for script, want := range map[string]string{
		`var a = "https://a.example/x.json", b = 'http://b.example/';`: "https://a.example/x.json http://b.example/",
		"fetch(`/api/v1/items?x=1&y=2`); load('/img/photo.jpg')":       "/api/v1/items?x=1&y=2 /img/photo.jpg",
		`{"u":"https:\/\/a.example\/p\/1","r":"\/wp-json\/x","e":"/a/b?c=1\u0026d=2"}`: "https://a.example/p/1 /wp-json/x " +
			"/a/b?c=1&d=2",
		`document.write("<a href=\"/inner/page.html\">")`: "/inner/page.html",
		`s = "/styles.css"; t = "/dir/"`:                  "/styles.css /dir/",
		// none of these is one
		`x = a / b / c; y = "text/html"; z = "/"; // http://comment.example/x` + "\n" + `r = /ab+c/.test("/x")`: "",
		`"/user/:id" "/glob/*.js" "/a b/c" "/login" "http://" "https://nodot/x" "/x${y}/z" "//cdn.example/x"`:   "",
		`ns = "http://www.w3.org/2000/svg"; c = {"@context":"https://schema.org"}`:                              "",
		`"/unterminated/path`: "",
	} {
		var parts []string
		for ref := range strings.FieldsSeq(want) {
			parts = append(parts, "speculative:"+ref)
		}
		joined := strings.Join(parts, " ")
		for media, body := range map[string]string{
			"text/html":              "<p><script type='application/json'>" + script + "</script>",
			"application/javascript": script, "application/json": script,
		} {
			if got := linksWith(t, Options{Speculative: true}, body, media); got != joined {
				t.Errorf("%s in %s: %q, want %q", script, media, got, joined)
			}
			if got := linksWith(t, Options{}, body, media); got != "" {
				t.Errorf("%s in %s: %q without being asked for", script, media, got)
			}
		}
	}
	many := strings.Repeat(`"/a/b.js",`, 3*speculativeMax)
	if n := strings.Count(linksWith(t, Options{Speculative: true}, many, "text/javascript"), ":"); n != speculativeMax {
		t.Errorf("%d speculative links of one body, want %d", n, speculativeMax)
	}
}

// A start page may lead on by a script alone: by a location, a handler, a javascript: URL or the options of a menu.
func TestSpeculativeLinks_ofPagesThatLeadOnByScript(t *testing.T) {
	for body, want := range map[string]string{
		`<script>window.location = "main.html"</script>`:                            "speculative:main.html",
		`<script>window.location.href='start';</script>`:                            "speculative:start",
		`<script>document.location.replace("a/b")</script>`:                         "speculative:a/b",
		`<script>top.location.assign( 'x?y=1' );</script>`:                          "speculative:x?y=1",
		`<script>location = "/start"; parent.frames[1].location="f"</script>`:       "speculative:/start speculative:f",
		`<script>setTimeout("location.href='later.html'", 500)</script>`:            "speculative:later.html",
		`<script>location.href = "?lang=en"</script>`:                               "speculative:?lang=en",
		`<script>if (location.href == "a.html") location.hash = "b"</script>`:       "",
		`<script>var location = "a.html"; my.location = "b.html"</script>`:          "",
		`<script>location.href = "a?id=" + id; s.replace("a.html", "")</script>`:    "",
		`<script>x = {"location": "Berlin"}; location = "Rome"</script>`:            "",
		`<script>location.href = "#top"; w = "a.html"</script>`:                     "",
		`<body onload="location='a.html'"><p ONCLICK="go(&quot;b.html&quot;)">`:     "speculative:a.html speculative:b.html",
		`<a href="#" onclick="window.open('pop?x=1','w'); return false">`:           "anchor:# speculative:pop?x=1",
		`<div onclick="location.href='/x'" onmouseover="f('i/b.gif', 1)">`:          "speculative:/x speculative:i/b.gif",
		`<a onclick="f('a'); g('text'); h('1.5', '../*.html', 'b.html' + c)">`:      "",
		`<a href="javascript:open('a.html')">x</a><area href='JavaScript:void(0)'>`: "speculative:a.html",
		`<a href="javascript:location.href=%27b.html%27">x</a>`:                     "speculative:b.html",
		`<select onchange="location=this.value"><option value="/en/"><option value=de.html><option value=./fr>` +
			`<option value="https://a.example/"></select>`: "speculative:/en/ speculative:de.html speculative:./fr " +
			"speculative:https://a.example/",
		`<option value="1.5"><option value="text/html"><option value=en><option value="/^a.*$/"><option value="/">`: "",
	} {
		if got := linksWith(t, Options{Speculative: true}, body, "text/html"); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
		if got := linksWith(t, Options{}, body, "text/html"); strings.Contains(got, "speculative") {
			t.Errorf("%s: %q without being asked for", body, got)
		}
	}
	far := "<script>" + strings.Repeat(" ", 8<<10) + "location='a.html'</script><p onclick=\"" +
		strings.Repeat(" ", 8<<10) + "location='b.html'\">"
	if got := linksWith(t, Options{Speculative: true}, far, "text/html"); got != "" {
		t.Errorf("%s, kilobytes behind the start of a script", got)
	}
}

// A script needs the modules that it imports. In a file, a location is relative to a page that is not known.
func TestSpeculativeLinks_ofModules(t *testing.T) {
	for code, want := range map[string]string{
		`import a from "./a.js"; import{b as c}from'../b.js';import "./c.css"`: "script:./a.js script:../b.js script:./c.css",
		"export * from './d.js'\nimport {\n  e,\n  f\n} from './e'":            "script:./d.js script:./e",
		"const p = () => import(`./p.js`), q = await import( \"/q\" )":         "script:./p.js script:/q",
		`import x from "https://cdn.example/x.mjs"`:                            "script:https://cdn.example/x.mjs",
		`u = new URL("./i.png", import.meta.url)`:                              "speculative:./i.png",
		`require("./no"); define(["./no"]); t = "./no.js"; from("./no")`:       "",
		`"import a from './no.js'"; 'words from "./no"'; x.import("./no")`:     "",
		`/** @type {import('./no.js').Type} */ import("./a.js").then(f)`:       "script:./a.js",
		`import react from "react"; location = "no.html"`:                      "",
		`location.href = "/yes"; window.location="https://a.example/"`: "speculative:/yes " +
			"speculative:https://a.example/",
	} {
		if got := linksWith(t, Options{Speculative: true}, code, "text/javascript"); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// Slashes and other bytes of a URL may be written as escapes, also in JSON within a string.
func TestSpeculativeLinks_withEscapes(t *testing.T) {
	for code, want := range map[string]string{
		`{u:"https:\u002F\u002Fa.example\u002Fb?c=1\u0026d\u003D2"}`:        "speculative:https://a.example/b?c=1&d=2",
		`"\u002Fblog\u002fpost.html"; '\x2Fa\x2Fb'`:                         "speculative:/blog/post.html speculative:/a/b",
		`JSON.parse("{\"u\":\"\\/a\\/b\",\"v\":\"\\u002Fc\\u002Fd\"}")`:     "speculative:/a/b speculative:/c/d",
		`location.href="\u002Fstart"`:                                       "speculative:/start",
		`"\u002Fa\u0020b\u002Fc" "\u002" "\u00e4\u002Fa" "\x2Fa\x3Cb/" "\u`: "",
	} {
		if got := linksWith(t, Options{Speculative: true}, code, "text/javascript"); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// No bytes break the scanner, and it finds no link twice as long as the body.
func FuzzSpeculative(f *testing.F) {
	for _, s := range []string{`"\/a\/b"`, `'https:\/\/a.b\/\u0026`, `"/a\`, "`/x/y`", `:\/`, `"http:/`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		res, err := NewScanner(Options{Speculative: true}).Scan(b, []byte("application/json"))
		if err != nil {
			return
		}
		for _, l := range res.Links {
			if len(l.Ref) > len(b) || bytes.IndexByte(l.Ref, '\\') >= 0 {
				t.Errorf("%q of %q", l.Ref, b)
			}
		}
	})
}

// A page with scripts, with and without speculative links.
func BenchmarkScripts(b *testing.B) {
	page := typicalPage()
	var script bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&script, "function f%d(a,b){return a/b*%d;} ", i, i)
		fmt.Fprintf(&script, "var u%d=\"/api/v%d/items/list.json\"; // see the notes\n", i, i)
	}
	page = append(page, "<script>"+script.String()+"</script>"...)
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprint(on), func(b *testing.B) {
			s := NewScanner(Options{Speculative: on})
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.Scan(page, []byte("text/html; charset=utf-8"))
			}
		})
	}
}
