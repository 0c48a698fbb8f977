package quality

import (
	"fmt"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orbweaver/derive/derivetest"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// The seeds of a crawl directory are whole lines of its two lists. What is no crawl directory has none.
func TestProduct_addsSeeds(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll(path.Join("crawl", layout.FrontierDir)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		layout.SeedsFile: "http://a.test/\nhttp://b.test/\n", layout.AddedSeeds: "http://c.test/\nhttp://d.te",
	} {
		derivetest.Put(t, fsys, path.Join("crawl", name), []byte(text))
	}
	p := New(fsys, "temporary")
	for _, name := range []string{"crawl", "elsewhere"} {
		if err := p.AddSeeds(name); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.seeds) != 3 || p.seeds[2] != fingerprint(p.seed, []byte("http://c.test/")) {
		t.Errorf("%d seeds", len(p.seeds))
	}
}

// ordersOf returns the paths of the pages of a.org in breadth-first and depth-first order, and the report.
func ordersOf(t *testing.T, a *derivetest.Archive, seeds string) (breadth, depth string, r *Report) {
	t.Helper()
	c := crawlOf(t, a, seeds)
	r, err := c.Measure(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	begin, err := c.findRoots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := newDocuments(c, begin)
	text := func(order []uint32, err error) (s string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range order {
			s += string(rune('a' + d.nodes[document]))
		}
		return s
	}
	return text(d.breadthFirst(t.Context())), text(d.depthFirst(t.Context())), r
}

func numbersOf(r *Report) string {
	return fmt.Sprintf("%d pages, %d unlinked, %d requisites, %d roots, %d links", r.Documents, r.Unlinked, r.Requisites,
		r.Roots, r.Links)
}

// put adds an HTML page of a.org with links.
func put(a *derivetest.Archive, path string, links ...string) {
	a.Response("http://a.org/"+path, 200, "text/html", page(links...))
}

// Breadth-first begins with the seeds of a crawl directory in their order. Pages that these do not reach, such as those
// of speculative links, have no place in any order, nor have what only they link to.
func TestMeasure_leavesOutWhatTheSeedsDoNotReach(t *testing.T) {
	a, without := &derivetest.Archive{}, &derivetest.Archive{}
	for _, archive := range []*derivetest.Archive{a, without} {
		put(archive, "a", "b", "c")
		put(archive, "b", "a")
		put(archive, "c", "d")
		put(archive, "d", "b", "/s.css")
		archive.Response("http://a.org/s.css", 200, "text/css", "")
	}
	put(a, "speculative", "d", "island")
	put(a, "island", "a", "speculative", "b", "/i.css")
	a.Response("http://a.org/i.css", 200, "text/css", "")
	_, _, want := ordersOf(t, without, "http://a.org/c\nhttp://gone.org/\nhttp://a.org/a\nhttp://a.org/c\n")
	breadth, depth, r := ordersOf(t, a, "http://a.org/c\nhttp://gone.org/\nhttp://a.org/a\nhttp://a.org/c\n")
	if breadth != "cadb" || depth != "cdba" || r.Roots != 2 || r.Unlinked != 2 || r.Links != 6 || r.Requisites != 1 {
		t.Errorf("breadth-first %s, depth-first %s, %s", breadth, depth, numbersOf(r))
	}
	if want.Unlinked, want.Outside = 2, 0; !cmp.Equal(r, want) {
		t.Error(cmp.Diff(r, want))
	}
	if breadth, _, r := ordersOf(t, a, ""); breadth != "abcdfg" || r.Unlinked != 0 || r.Roots != 2 {
		t.Errorf("without seeds: breadth-first %s, %s", breadth, numbersOf(r))
	}
}

// A set of WARC files has its seeds in metadata records.
func TestMeasure_seedsOfMetadataRecords(t *testing.T) {
	a := &derivetest.Archive{}
	for path, fields := range map[string]string{
		"b": "seed: \r\nfetchTimeMs: 1\r\n", "c": "via: http://a.org/seed:\r\nhopsFromSeed: L\r\n", "": "seed: \r\n",
	} {
		a.Record("metadata", "http://a.org/"+path, "application/warc-fields", fields)
	}
	a.Record("metadata", "dns:a.org", "application/warc-fields", "seed: \r\n")
	put(a, "a")
	put(a, "b", "d")
	put(a, "c", "a")
	put(a, "d")
	if breadth, depth, r := ordersOf(t, a, ""); breadth != "bd" || depth != "bd" || r.Roots != 1 || r.Unlinked != 2 {
		t.Errorf("breadth-first %s, depth-first %s, %s", breadth, depth, numbersOf(r))
	}
}

// Pages of a sitemap enter an order after as many visits as the crawl had made before that of the sitemap. Those of a
// feed enter with the feed.
func TestMeasure_sitemapsAndFeedsLeadToPages(t *testing.T) {
	a := &derivetest.Archive{}
	put(a, "a", "c", "g", "/feed")
	a.Response("http://a.org/map", 200, "application/xml", `<urlset><url><loc>http://a.org/d</loc></url></urlset>`)
	put(a, "c", "h")
	put(a, "d", "f")
	a.Response("http://a.org/feed", 200, "application/rss+xml",
		`<rss version="2.0"><channel><item><link>http://a.org/i</link></item></channel></rss>`)
	for _, leaf := range []string{"f", "g", "h", "i"} {
		put(a, leaf)
	}
	breadth, depth, r := ordersOf(t, a, "http://a.org/a\n")
	if breadth != "acghidf" || depth != "adfchgi" || r.Unlinked != 0 || r.Requisites != 2 {
		t.Errorf("breadth-first %s, depth-first %s, %s", breadth, depth, numbersOf(r))
	}
}

// Without seeds, a page that no earlier one links to enters an order after as many visits as the crawl had made before.
func TestMeasure_unlinkedPagesEnterLate(t *testing.T) {
	a := &derivetest.Archive{}
	put(a, "a", "b", "c", "f")
	put(a, "b", "e")
	put(a, "c")
	put(a, "d")
	put(a, "e")
	put(a, "f")
	if breadth, depth, r := ordersOf(t, a, ""); breadth != "abcfed" || depth != "abedcf" || r.Roots != 2 {
		t.Errorf("breadth-first %s, depth-first %s, %s", breadth, depth, numbersOf(r))
	}
}

// A seed is discovered before all links, also if a page links to it: so a site with this order of visits has tau 1.
func TestMeasure_seedsAreDiscoveredFirst(t *testing.T) {
	a := &derivetest.Archive{}
	links := []string{"b", "c", "d", "e", "f", "g", "h", "i", "j", "z"}
	put(a, "a", links...)
	put(a, "z")
	for _, path := range links[:9] {
		put(a, path)
	}
	_, _, r := ordersOf(t, a, "http://a.org/a\nhttp://a.org/z\n")
	near(t, "mean", r.Sites.Mean, 1)
	if r.Sites.Sites != 1 {
		t.Errorf("%d sites", r.Sites.Sites)
	}
}
