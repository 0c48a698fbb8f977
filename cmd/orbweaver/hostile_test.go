package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What commands print of URLs that others have written cannot steer the terminal: neither results nor mistakes.
func TestHostile_U09_whatIsPrintedOfAURLHasNoEscapes(t *testing.T) {
	const evil = "http://a.example/\x1b[31m\x1b]0;x\a\u202e\u009b"
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	writeFile(t, page, "<title>\x1b[2J</title><a href='"+evil+"'>.</a><a href='http://\x1b[31m/'>.</a>")
	robots := filepath.Join(dir, "robots.txt")
	writeFile(t, robots, "User-agent: *\nDisallow: /\x1b[31m\n")
	crawl := filepath.Join(dir, "crawl")
	for _, r := range []result{
		call("crawl", "--dir", crawl, "--dry-run", evil),
		call("crawl", "--dir", crawl, "--dry-run", "\x1b[31m"),
		call("crawl", "--dir", crawl, "--contact", "mailto:a@b.example", "--exclude-hosts", page, evil),
		call("links", "--base", "http://a.example/", page),
		call("links", "--base", "http://a.example/", "--json", page),
		call("links", "--base", "\x1b[31m", page),
		callWith(evil+"\n\x1b[31m\n", "url", "normalize"),
		callWith(evil+"\n\x1b[31m\n", "robots", "test", "--robots", robots),
		call("ctl", "--dir", crawl, "add", evil),
		// programs read JSON
		{
			out: strings.NewReplacer("\u202e", "", "\u009b", "").Replace(
				call("crawl", "--dir", crawl, "--dry-run", "--json", evil).out,
			),
		},
	} {
		if text := r.out + r.err; text == "" || strings.ContainsAny(text, "\x1b\a\u202e\u009b") {
			t.Errorf("%q", text)
		}
	}
}
