package parse

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// examples have a document of each media type of docs/links.md, and the links that the crawl takes of it.
func examples() map[string][2]string {
	const opml = `<opml><outline xmlUrl="http://a.test/1?x=1&amp;y=2" htmlUrl="/2/"/></opml>`
	page := `<a href=1><img src=2><form action=3></form>`
	script := `import a from "./1.js"; b = "/2/3"`
	return map[string][2]string{
		"text/html": {page, "anchor:1 image:2 form:3"},
		"application/xhtml+xml": {`<html><a href="1"/><img src="2"/><form action="3"/></html>`,
			"anchor:1 image:2 form:3"},
		"text/css":      {`@import "1"; a { b: url(2); c: image-set("3" 1x) }`, "css:1 css:2 css:3"},
		"image/svg+xml": {`<svg><a href="1"/><use href="2"/></svg>`, "anchor:1 use:2"},
		"application/rss+xml": {`<rss><link>1</link><description>&lt;img src=2&gt;</description></rss>`,
			"feed:1 image:2"},
		"application/atom+xml": {`<feed><link href="1"/><icon>2</icon></feed>`, "feed:1 media:2"},
		"text/xml":             {`<urlset><url><loc>1</loc><image:loc>2</image:loc></url></urlset>`, "sitemap:1 media:2"},
		"application/dash+xml": {`<MPD><Period><AdaptationSet><Representation><BaseURL>1</BaseURL></Representation>` +
			`</AdaptationSet></Period></MPD>`, "media:1"},
		"audio/x-mpegurl":        {"1\n2", "link:1 link:2"},
		"audio/x-scpls":          {"[playlist]\nFile1=1\nTitle1=2", "link:1"},
		"text/uri-list":          {"# x\nhttp://a.test/1\r\n", "link:http://a.test/1"},
		"application/pdf":        {"%PDF-1.4\n1 0 obj<</S/URI/URI(1)>>endobj", "pdf:1"},
		"text/javascript":        {script, "script:./1.js speculative:/2/3"},
		"application/javascript": {script, "script:./1.js speculative:/2/3"},
		"application/json":       {`{"a": "/1/2", "b": "c/d.html"}`, "speculative:/1/2"},
		"text/x-opml":            {opml, "speculative:http://a.test/1?x=1&y=2 speculative:/2/"},
		"application/xml":        {opml, "speculative:http://a.test/1?x=1&y=2 speculative:/2/"},
		"application/ld+json": {`{"@id": "http://a.test/1", "@context": "http://schema.org/"}`,
			"speculative:http://a.test/1"},
		"application/rtf": {`{\rtf1{\field{\*\fldinst{HYPERLINK "http://a.test/1"}}}}`,
			"speculative:http://a.test/1"},
		"text/vnd.wap.wml": {`<wml><card><a href="1"/><img src="2"/><go href="./3"/></card></wml>`,
			"anchor:1 image:2 speculative:./3"},
		"application/feed+json": {`{"version":"https://jsonfeed.org/version/1","items":[{"url":"1","image":"2"}]}`,
			"feed:1 image:2"},
		"application/manifest+json":     {`{"start_url":"1","icons":[{"src":"2"}]}`, "link:1 image:2"},
		"application/vnd.apple.mpegurl": {"#EXTM3U\n#EXT-X-TARGETDURATION:1\n1.ts", "media:1.ts"},
		"application/vnd.api+json":      {`{"links":{"next":"http://a.test/1"}}`, "speculative:http://a.test/1"},
		"application/vnd.google-earth.kml+xml": {`<kml xmlns="http://www.opengis.net/kml/2.2">` +
			`<Icon><href>1.png</href></Icon>` +
			`<Link><href>http://a.test/2</href></Link></kml>`, "speculative:1.png speculative:http://a.test/2"},
		"application/xspf+xml": {`<playlist><track><location>http://a.test/1</location></track></playlist>`,
			"speculative:http://a.test/1"},
	}
}

// typesOf are the media types in the first cell of a row.
func typesOf(row string) (types []string) {
	cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
	for _, m := range regexp.MustCompile("`([a-z]+/[^`]+)`").FindAllStringSubmatch(cell, -1) {
		types = append(types, m[1])
	}
	return types
}

// The table of docs/links.md is true: of each type the links are taken that it says, with these hops, and none of the
// option that is off. What it calls not read has none.
func TestLinks_areThoseOfTheTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/links.md")
	if err != nil {
		t.Fatal(err)
	}
	read, unread, ok := strings.Cut(string(page), "## What is not read")
	if !ok {
		t.Fatal("the page has no second table")
	}
	left := examples()
	all := Options{Speculative: true, PDF: true, Forms: true}
	for row := range strings.Lines(read) {
		for _, media := range typesOf(row) {
			c, ok := left[media]
			if delete(left, media); !ok {
				t.Errorf("%s has no example, or two rows", media)
				continue
			}
			if got := linksWith(t, all, c[0], media); got != c[1] {
				t.Errorf("%s: %q, want %q", media, got, c[1])
			}
			var hops []string
			for link := range strings.FieldsSeq(c[1]) {
				name, _, _ := strings.Cut(link, ":")
				hops = append(hops, string(kindNamed(name).Letter()))
			}
			slices.Sort(hops)
			said := strings.Split(strings.TrimSpace(strings.Split(row, "|")[3]), ", ")
			slices.Sort(said)
			if hops = slices.Compact(hops); !slices.Equal(hops, said) {
				t.Errorf("%s: hops %q, the table says %q", media, hops, said)
			}
			without := linksWith(t, Options{}, c[0], media)
			isOption := strings.Contains(row, "--speculative") || strings.Contains(row, "--pdf-links")
			if isOption && !strings.Contains(row, "X:") && without != "" || strings.Contains(without, "speculative") {
				t.Errorf("%s: %q without the option", media, without)
			}
			if !isOption && media != "text/html" && media != "application/xhtml+xml" && without != c[1] {
				t.Errorf("%s: %q without options", media, without)
			}
		}
	}
	for media := range left {
		t.Errorf("the table lacks %s", media)
	}
	for row := range strings.Lines(unread) {
		for _, media := range typesOf(row) {
			const body = `see "http://a.test/1", http://a.test/2 and <a href="/3/">`
			if got := linksWith(t, all, body, media); got != "" {
				t.Errorf("%s: %q, want none", media, got)
			}
		}
	}
}

func kindNamed(name string) Kind {
	for k := range kindCount {
		if k.String() == name {
			return k
		}
	}
	panic("BUG: no kind " + name)
}
