package parse

import (
	"strings"
	"testing"
)

// The character set is known from the start of a body if nothing behind it counts. Then it is that of the whole body.
func TestScanner_Charset(t *testing.T) {
	fill := strings.Repeat("some words of text, ", 60)
	late := "<meta charset=koi8-r>" + fill
	for _, c := range []struct {
		body, contentType string
		isKnown           bool
	}{
		{"<p>" + fill, "text/html; charset=iso-8859-2", true},
		{"<meta charset=shift_jis>" + fill, "text/html", true},
		{"<meta charset=hz-gb-2312>" + fill, "text/html", true},
		{"\xef\xbb\xbf<p>" + fill, "text/html", true},
		{"\xff\xfe<\x00p\x00>\x00" + strings.Repeat("a\x00", 600), "text/html", true},
		{"<?xml version='1.0' encoding='koi8-r'?><a>" + fill, "text/xml", true},
		{"<a>" + fill, "application/xml", true},
		{"a { color: red } /*" + fill, "text/css", true},
		{fill, "text/plain; charset=koi8-r", true},
		{fill, "", true},
		{"<p>short", "text/html; charset=utf-8", false},
		{"<p>" + fill, "text/html", false},
		{"<p>\xc3\xa9" + fill, "text/html", false},
		{"<!--" + fill + "-->", "text/html; charset=koi8-r", false},
		{"<rss>" + fill, "text/html; charset=koi8-r", false},
	} {
		s := NewScanner(Options{})
		name, isKnown := s.Charset([]byte(c.body), []byte(c.contentType))
		if isKnown != c.isKnown {
			t.Errorf("%.40q as %q: known: %v", c.body, c.contentType, isKnown)
		}
		for _, rest := range []string{"", late, "--><rss>" + late, "</title>" + late} {
			res, _ := s.Scan([]byte(c.body+rest), []byte(c.contentType))
			if isKnown && res.Charset != name {
				t.Errorf("%.40q and %.20q as %q: %q, then %q", c.body, rest, c.contentType, name, res.Charset)
			}
		}
	}
}
