package hostile

import (
	"fmt"
	"strconv"
	"strings"
)

// documents holds what pages do to a parser.
func documents() []Case {
	return []Case{
		{ID: "P01", Play: func(x *Exchange) { x.pages(nested) }},
		{ID: "P02", Play: func(x *Exchange) {
			if x.Path == "/endless" {
				const size = 100 << 20
				x.Write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + strconv.Itoa(size) +
					"\r\n\r\n<a href=/before-endless><p title='")
				x.Repeat("<a href=/no>", size-50)
				return
			}
			x.pages(unclosed)
		}},
		{ID: "P05", Play: func(x *Exchange) {
			if x.Path != "/" {
				x.HTML("found")
				return
			}
			x.HTML(
				"<a href='" + strings.Join(
					foreignLinks,
					"'>.</a><a href='",
				) + "'>.</a><a href=/good>.</a><img src='data:image/gif;base64," +
					strings.Repeat(
						"R0lG",
						50_000,
					) + "'>",
			)
		}},
		{ID: "P06", Play: func(x *Exchange) {
			if x.Path == "/" {
				x.HTML(links("/%d", 1_000_000))
				return
			}
			x.HTML("one of many")
		}},
		{ID: "P08", Play: liars},
		{ID: "P09", Play: expanders},
		{ID: "P11", Play: recursive},
		{ID: "P13", Play: multiplied},
	}
}

// nested are the pages of P01. Each has a link behind it all, /end-NAME.
var nested = map[string]func() string{
	"div":      func() string { return strings.Repeat("<div>", 1_000_000) + "<a href=/end-div>" },
	"anchor":   func() string { return strings.Repeat("<a>", 1_000_000) + "<a href=/end-anchor>" },
	"adoption": func() string { return strings.Repeat("<a><b><i><p>", 100_000) + "<a href=/end-adoption>" },
	"tables": func() string {
		return strings.Repeat("<table><a><tr><select><td><table>", 50_000) + "<a href=/end-tables>"
	},
	"svg": func() string { return strings.Repeat("<svg><foreignObject>", 100_000) + "<a href=/end-svg>" },
	"templates": func() string {
		return strings.Repeat(
			"<template>",
			100_000,
		) + strings.Repeat(
			"</template>",
			100_000,
		) + "<a href=/end-templates>"
	},
	"attrs": func() string { return "<p" + strings.Repeat(" a=b", 500_000) + "><a href=/end-attrs>" },
}

// unclosed are the pages of P02: what is opened and closed late or never, with a link before it and one behind.
var unclosed = map[string]func() string{
	"attribute": func() string { return around("attribute", "<p title='"+strings.Repeat("<a href=/no>", 100_000)+"'>") },
	"quote":     func() string { return around("quote", "<p title='>") },
	"comment":   func() string { return around("comment", "<!-- >") },
	"closed":    func() string { return around("closed", "<!--"+strings.Repeat("<a href=/no>-", 100_000)+"-->") },
	"script":    func() string { return around("script", "<script>") },
	"plaintext": func() string { return around("plaintext", "<plaintext>") },
	"cdata":     func() string { return around("cdata", "<![CDATA[") },
	"svgcdata":  func() string { return around("svgcdata", "<svg><![CDATA[") },
	"tag":       func() string { return around("tag", "<p <p <p ") },
}

// around puts links before and behind.
func around(name, middle string) string {
	return "<a href=/before-" + name + ">.</a>" + middle + "<a href=/after-" + name + ">.</a>"
}

// foreignLinks are those of P05.
var foreignLinks = []string{
	"javascript:void(0)", "JavaScript:alert(1)", "java\tscript:alert(1)", " javascript:x", "data:text/html,x",
	"blob:http://p05.test/1", "mailto:a@p05.test",
	"tel:+1", "about:blank", "ftp://p05.test/", "file:///etc/passwd", "vbscript:x", "intent://p05.test/#Intent;end",
	"magnet:?xt=1",
}

// liars are the pages of P08: those whose character set is not what they say. /NAME is sent with the type of liarTypes.
func liars(x *Exchange) {
	name := strings.TrimPrefix(x.Path, "/")
	if body, ok := liarBodies[name]; ok {
		x.Page("200 OK", "Content-Type: "+liarTypes[name]+"\r\n", body)
		return
	}
	var b strings.Builder
	if x.Path == "/" {
		for name := range liarBodies {
			fmt.Fprintf(&b, "<a href=/%s>.</a>", name)
		}
	}
	x.HTML(b.String())
}

var liarTypes = map[string]string{
	"utf7": "text/html; charset=utf-7", "utf16": "text/html", "utf16said": "text/html; charset=utf-16le",
	"late": "text/html", "mixed": "text/html; charset=utf-8",
	"bom": "text/html; charset=koi8-r", "nonsense": "text/html; charset=nonsense", "hz": "text/html; charset=hz-gb-2312",
	"early": "text/html",
}

var liarBodies = map[string]string{
	"utf7":      "+ADw-a href=+ACI-/no-utf7+ACI-+AD4- <a href=/yes-utf7>.</a>",
	"utf16":     "<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00/\x00n\x00o\x00>\x00",
	"utf16said": "<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00/\x00y\x00e\x00s\x00-\x00\xe9\x00>\x00",
	"late":      strings.Repeat(" ", 2000) + "<meta charset=koi8-r><a href=/yes-late-\xC1>.</a>",
	"early":     "<meta charset=koi8-r><meta charset=utf-8><a href=/yes-early-\xC1>.</a>",
	"mixed":     "<a href=/yes-mixed-\xe9>.</a><a href=/yes-mixed-\u00fc>.</a>",
	"bom":       "\xEF\xBB\xBF<a href=/yes-bom-\u00fc>.</a>",
	"nonsense":  "<meta charset=utf-8><a href=/yes-nonsense-\u00fc>.</a>",
	"hz":        "<a href=/no-hz>~{<:Ky2;NS~}</a>",
}

// expanders are the documents of P09: XML that wants to become large, or to load something.
func expanders(x *Exchange) {
	xml := func(body string) {
		x.Page("200 OK", "Content-Type: application/xhtml+xml\r\n", "<?xml version='1.0'?>"+body)
	}
	switch x.Path {
	case "/":
		x.HTML("<a href=/laughs>.</a><a href=/external>.</a><a href=/namespaces>.</a><a href=/feed>.</a>")
	case "/laughs":
		var b strings.Builder
		for i := 1; i < 30; i++ {
			fmt.Fprintf(&b, "<!ENTITY l%d '%s'>", i, strings.Repeat(fmt.Sprintf("&l%d;", i-1), 10))
		}
		xml(
			"<!DOCTYPE html [<!ENTITY l0 'ha'>" + b.String() + "]><html><a href='/yes-laughs'>&l29;</a><a " +
				"href='/a-&l29;'/></html>",
		)
	case "/external":
		xml(
			"<!DOCTYPE html PUBLIC 'x' 'http://dtd.p09.test/evil.dtd' [<!ENTITY f SYSTEM 'file:///etc/passwd'><!ENTITY % p " +
				"SYSTEM 'http://dtd.p09.test/p.ent'>%p;]>" +
				"<html xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='http://dtd.p09.test/included'/><a " +
				"href='/yes-external'>&f;</a></html>",
		)
	case "/namespaces":
		var b strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&b, " xmlns:n%d='http://p09.test/%d'", i, i)
		}
		xml("<html" + b.String() + "><n49999:a href='/yes-namespaces'/></html>")
	case "/feed":
		x.Page(
			"200 OK",
			"Content-Type: application/rss+xml\r\n",
			"<!DOCTYPE rss [<!ENTITY u "+
				"'http://p09.test/no'>]><rss><item><link>/yes-feed</link></item><item><link>&u;</link></item></rss>",
		)
	default:
		x.HTML("found")
	}
}

// recursive are the resources of P11.
func recursive(x *Exchange) {
	switch x.Path {
	case "/":
		x.HTML("<link rel=stylesheet href=/a.css><a href=/deep.json>.</a><a href=/list.m3u8>.</a>")
	case "/a.css", "/b.css":
		x.Page("200 OK", "Content-Type: text/css\r\n", "@import '/b.css'; @import url(/a.css); @import '"+x.Path+"';")
	case "/deep.json":
		x.Page(
			"200 OK",
			"Content-Type: application/json\r\n",
			strings.Repeat(`{"a":[`, 100_000)+`"http://p11.test/no"`+strings.Repeat("]}", 100_000),
		)
	case "/list.m3u8":
		x.Page(
			"200 OK",
			"Content-Type: application/vnd.apple.mpegurl\r\n",
			"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n/list.m3u8\nhttp://p11.test/list.m3u8\n",
		)
	default:
		x.HTML("found")
	}
}

// multiplied are the pages of P13: each of their links is a URL as long as the base. Two of them are the same bytes.
func multiplied(x *Exchange) {
	base := map[string]int{"/8000": 8000, "/1900": 1900, "/copy": 1900}[x.Path]
	switch {
	case x.Path == "/":
		x.HTML("<a href=/8000>.</a><a href=/1900>.</a><a href=/copy>.</a>")
	case base > 0:
		x.HTML("<base href='/" + strings.Repeat("b", base) + "/'>" + links("%d", 20_000))
	default:
		x.HTML("one of many")
	}
}
