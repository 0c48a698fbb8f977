package parse

import (
	"strings"
	"testing"
)

var longText = strings.Repeat("some words of text, ", 100)

// The bytes decide; the declared type says more of them, and never the contrary.
func TestAppendMediaType_looksAtTheBytes(t *testing.T) {
	for _, c := range []struct{ payload, declared, want string }{
		{"<!DOCTYPE html><title>a</title>", "", "text/html"},
		{"\xef\xbb\xbf\n <HTML lang=en>", "text/plain", "text/html"},
		{"<p>words", "application/octet-stream", "text/html"},
		{"<font>words", "TEXT/HTML; charset=x", "text/html"},
		{"words without marks", "text/html", "text/html"},
		{"words", "", "text/plain"},
		{"words", "image/png", "text/plain"},
		{"body { color: red }", "text/css", "text/css"},
		{`{"a":1}`, "application/ld+json", "application/ld+json"},
		{"let a = 1", "application/javascript;charset=utf-8", "application/javascript"},
		{"<?xml version='1.0'?><rss/>", "application/rss+xml", "application/rss+xml"},
		{"<?xml version='1.0'?><html/>", "text/html", "text/html"},
		{"<?xml version='1.0'?><a/>", "image/png", "text/xml"},
		{"<!DOCTYPE html><html xmlns='x'>", "application/xhtml+xml", "application/xhtml+xml"},
		{"\x89PNG\r\n\x1a\nrest", "text/html", "image/png"},
		{"\xff\xd8\xff\xe0", "image/png", "image/jpeg"},
		{"RIFF1234WEBPVP8 ", "", "image/webp"},
		{"%PDF-1.7", "application/octet-stream", "application/pdf"},
		{"RIFF1234AVI LIST", "", "video/avi"},
		{"FORM1234AIFFCOMM", "", "audio/aiff"},
		{"MThd\x00\x00\x00\x06", "", "audio/midi"},
		{"\x00\x00\x02\x00", "", "image/x-icon"},
		{"body { color: red }", "text/css charset=utf-8", "text/css"},
		{"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41", "", "video/mp4"},
		{"\x00\x00\x00\x18ftypmp42\x00\x00\x02\x00isomavc1", "text/html", "video/mp4"},
		{"\x00\x00\x00\x14ftypisom\x00\x00\x02\x00isommp41", "", "application/octet-stream"},
		{"\x00\x00\x00\x14ftypisom\x00\x00\x02\x00isommp41", "Video/MP4", "video/mp4"},
		{"\x00\x00\x00\x14ftypqt  \x00\x00\x02\x00qt  mp41", "video/quicktime", "video/quicktime"},
		{"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "image/heic", "image/heic"},
		{"\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1miaf", "", "image/avif"},
		{"\x00\x00\x00\x18ftyp", "video/mp4", "application/octet-stream"},
		{"PK\x03\x04rest", "application/epub+zip", "application/epub+zip"},
		{"PK\x03\x04rest", "text/html", "application/zip"},
		{"PK\x03\x04rest", "application/octet-stream", "application/zip"},
		{"\x00\x01binary", "text/html", "application/octet-stream"},
		{"\x00\x01binary", "image/png", "application/octet-stream"},
		{"\x00\x01binary", "application/msword", "application/msword"},
		{"\x00\x01binary", "a\r\nX: y/b", "application/octet-stream"},
		{"\xff\xfea\x00", "text/plain", "text/plain"},
		{"", "text/html", ""},
	} {
		if got := string(AppendMediaType(nil, []byte(c.payload), []byte(c.declared))); got != c.want {
			t.Errorf("%q as %q: %q, want %q", c.payload, c.declared, got, c.want)
		}
	}
}

func TestIsCharsetInHeaderOnly(t *testing.T) {
	for _, c := range []struct {
		media, payload, declared string
		want                     bool
	}{
		{"text/html", "<p>text", "text/html; charset=utf-8", true},
		{"text/html", "<p>text", "text/html", false},
		{"text/html", "<p>text", "text/plain; charset=utf-8", false},
		{"text/html", "\xef\xbb\xbf<p>text", "text/html; charset=utf-8", false},
		{"text/html", `<META HTTP-EQUIV=x CONTENT="text/html; CHARSET=koi8-r">`, "text/html; charset=koi8-r", false},
		{"text/xml", `<?xml version="1.0" encoding="koi8-r"?>`, "text/xml; charset=koi8-r", false},
		{"text/css", `@charset "koi8-r";`, "text/css;charset=koi8-r", false},
		{"text/html", strings.Repeat(" ", 1020) + "charset", "text/html; charset=utf-8", true},
	} {
		if got := IsCharsetInHeaderOnly([]byte(c.media), []byte(c.payload), []byte(c.declared)); got != c.want {
			t.Errorf("%s, %.40q, declared %s: %v", c.media, c.payload, c.declared, got)
		}
	}
}

func BenchmarkAppendMediaType(b *testing.B) {
	for name, c := range map[string][2]string{
		"html": {"<!DOCTYPE html>\n<html><head><title>a</title>" + longText, "text/html; charset=utf-8"},
		"css":  {longText, "text/css"},
	} {
		b.Run(name, func(b *testing.B) {
			payload, declared := []byte(c[0]), []byte(c[1])
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendMediaType(dst[:0], payload, declared)
			}
		})
	}
}
