package admission

import (
	"fmt"
	"testing"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
)

// offer asks whether one link of a page belongs to a crawl of http://site.test/.
func offer(t *testing.T, d *Scratch, page string, item queued.URL, kind parse.Kind, url string) bool {
	t.Helper()
	if d.rules == nil {
		seeds := new(filter.Seeds)
		if err := seeds.Add([]byte("http://site.test/docs/")); err != nil {
			t.Fatal(err)
		}
		scope, err := filter.CompileScope("prefix", seeds)
		if err != nil {
			t.Fatal(err)
		}
		d.rules = &Rules{Scope: scope}
		d.Page, d.source = []byte(page), source{isSitemap: item.Sitemap}
	}
	d.kind = kind
	own := item
	d.rules.hop(&own, &item, kind)
	return d.belongs([]byte(url), &own)
}

// A sitemap may be anywhere if a site of the crawl names it. What it names stays in the scope.
func TestSitemaps_mayBeOnAnotherHost(t *testing.T) {
	const robots, index = "http://site.test/robots.txt", "http://cdn.test/index.xml"
	called := queued.URL{Sitemap: true}
	for _, c := range []struct {
		what, page string
		item       queued.URL
		kind       parse.Kind
		url        string
		want       bool
	}{
		{"of a site's robots.txt", robots, queued.URL{}, parse.SitemapFile, "http://cdn.test/a.xml", true},
		{"of its own host", robots, queued.URL{}, parse.SitemapFile, "http://site.test/a.xml", true},
		{"of a robots.txt out of scope", "http://cdn.test/robots.txt", queued.URL{}, parse.SitemapFile,
			"http://cdn.test/a.xml", false},
		{"of an index on another host", index, called, parse.SitemapFile, "http://cdn.test/a.xml", true},
		{"of such an index, on a third host", index, called, parse.SitemapFile, "http://other.test/a.xml", false},
		{"of such an index, on the site", index, called, parse.SitemapFile, "http://site.test/a.xml", true},
		{"of the site's index", "http://site.test/index.xml", called, parse.SitemapFile, "http://cdn.test/a.xml", true},
		{"of an index that nothing names", index, queued.URL{}, parse.SitemapFile, "http://cdn.test/a.xml", false},
		{"where one redirects to", index, called, parse.Redirect, "http://other.test/a.xml", true},
		{"where a page redirects to", index, queued.URL{}, parse.Redirect, "http://other.test/a.xml", false},
		{"a page", index, called, parse.Sitemap, "http://site.test/docs/a", true},
		{"a page out of scope", index, called, parse.Sitemap, "http://site.test/a", false},
		{"a page of another host", index, called, parse.Sitemap, "http://cdn.test/a", false},
		{"an image of it", index, called, parse.Image, "http://cdn.test/a.png", false},
		{"an image of the site's", "http://site.test/docs/map", called, parse.Image, "http://cdn.test/a.png", true},
	} {
		if c.item.Depth = 1; offer(t, new(Scratch), c.page, c.item, c.kind, c.url) != c.want {
			t.Errorf("%s: want %v", c.what, c.want)
		}
	}
}

// One file may name a thousand sitemaps out of scope.
func TestSitemaps_outOfScopeAreCounted(t *testing.T) {
	d, taken := new(Scratch), 0
	for i := range 2 * elsewhereMax {
		url := fmt.Sprintf("http://cdn.test/%d.xml", i)
		if offer(t, d, "http://site.test/robots.txt", queued.URL{}, parse.SitemapFile, url) {
			taken++
		}
	}
	if taken != elsewhereMax {
		t.Errorf("%d sitemaps out of scope", taken)
	}
	if !offer(t, d, "", queued.URL{}, parse.SitemapFile, "http://site.test/docs/map.xml") {
		t.Error("one in scope is left out")
	}
}
