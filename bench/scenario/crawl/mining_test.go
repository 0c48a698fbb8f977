package crawl

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
)

// hidden is a guest: sites with pages that no page links to.
type hidden struct{}

// Host implements simweb.Guest.
func (hidden) Host(name string) (address netip.Addr, ok bool) {
	n, ok := map[string]byte{
		"gallery.test": 1, "folders.test": 2, "soft.test": 3, "plain.test": 4, "endless.test": 5,
		"sorry.test": 6, "echo.test": 7,
	}[name]
	return netip.AddrFrom4([4]byte{198, 51, 100, n}), ok
}

// Serve implements simweb.Guest.
func (hidden) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 404, Type: "text/html", Body: []byte("<p>there is nothing here")}
	if body, ok := hiddenPage(r.Authority, r.Path); ok {
		reply.Status, reply.Body = 200, []byte(body)
	}
	return reply.Send(conn)
}

// hiddenPage returns a page of one of the sites.
func hiddenPage(host, path string) (body string, ok bool) {
	text := words(host + path)
	switch host {
	case "gallery.test": // 500 pictures; three have links
		if path == "/" {
			return "<a href=g/001.html>a</a><a href=g/250.html>b</a><a href=g/500.html>c</a>", true
		}
		name, ok := strings.CutPrefix(strings.TrimSuffix(path, ".html"), "/g/")
		n, err := strconv.Atoi(name)
		return text, ok && err == nil && len(name) == 3 && n >= 1 && n <= 500
	case "folders.test": // each page is in a folder of its own, three deep, and no page has a link to a folder
		if path == "/" {
			var b strings.Builder
			for i := range 60 {
				fmt.Fprintf(&b, "<a href=a%d/b/c/x.html>x</a>", i)
			}
			return b.String(), true
		}
		return text, strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/x.html")
	case "soft.test": // each address has a page, which says that there is none
		if path == "/" || path == "/p1.html" {
			return text + "<a href=/p1.html>1</a><a href=/p2.html>2</a>", true
		}
		return "<p>There is no page " + path + " here.", path != "/robots.txt"
	case "sorry.test", "echo.test": // no page links to such a page; echo prints the address alone
		for i := range 30 {
			link := fmt.Sprintf("/x%c/y%c/page%d.html", 'a'+i%26, 'a'+i/2, 7*i)
			if body += "<a href=" + link + ">x</a>"; path == link {
				return text, true
			}
		}
		if path == "/" {
			return body, true
		}
		if host == "echo.test" {
			return "<title>" + path + "</title><h1>http://echo.test" + path + "</h1>", path != "/robots.txt"
		}
		return "<p>Sorry, " + path + " is not here", path != "/robots.txt"
	case "plain.test": // nothing but what has links, with numbers
		if path == "/" {
			var b strings.Builder
			for i := range 300 {
				fmt.Fprintf(&b, "<a href=/d%d/article-%d.html>%d</a>", i%7, 1000*i+17, i)
			}
			return b.String(), true
		}
		_, name, _ := strings.Cut(path, "/article-")
		n, err := strconv.Atoi(strings.TrimSuffix(name, "017.html"))
		return text, err == nil && n < 300 && path[2]-'0' == byte(n%7)
	case "endless.test": // each number has a page with new text
		if path == "/" {
			return text + "<a href=/n/1>1</a><a href=/n/2>2</a>", true
		}
		return text, strings.HasPrefix(path, "/n/")
	}
	return "", false
}

// words are 40 words that depend on a text.
func words(of string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "<p>%s", strconv.FormatUint(xxh3.HashStringSeed(of, uint64(i)), 26))
	}
	return b.String()
}

// mineOf crawls one site and returns its final lines and the report.
func mineOf(t *testing.T, site string, how ...string) (lines map[string]string, r report.Report) {
	synctest.Test(t, func(t *testing.T) {
		rig := oneWorld(t)
		rig.World.Invite(hidden{})
		cfg := engine.Simulation()
		cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://" + site + "/"}, "domain"
		cfg.Mining.Mine = how
		var err error
		r, err = rig.Crawl(t.Context(), cfg, rig.FS)
		if err := errors.Join(err, rig.Net.Close()); err != nil {
			t.Fatal(err)
		}
		lines = final(t, rig)
	})
	return lines, r
}

// Of a gallery of 500 pictures three have links. Its siblings are found, each with the letter I, and at most five
// requests lead to nothing. Without --mine there are the three.
func TestMining_findsAGalleryByThreeOfItsPictures(t *testing.T) {
	lines, r := mineOf(t, "gallery.test", "siblings")
	found := 0
	for n := 1; n <= 500; n++ {
		if strings.HasPrefix(lines[fmt.Sprintf("http://gallery.test/g/%03d.html", n)], "ok ") {
			found++
		}
	}
	misses := r.MinedTried - r.MinedFound
	if found != 500 || misses > 5 || r.MinedFound != 497 || lines["http://gallery.test/g/002.html"] != "ok LI" {
		t.Errorf("%d found, %d misses, %q", found, misses, lines["http://gallery.test/g/002.html"])
	}
	if lines, _ := mineOf(t, "gallery.test"); len(lines) != 4 {
		t.Errorf("without: %d lines", len(lines))
	}
}

// All 180 folders above 60 pages are found.
func TestMining_findsAllFolders(t *testing.T) {
	lines, r := mineOf(t, "folders.test", "ancestors")
	if len(lines) != 1+60+180 || r.MinedFound != 180 || r.MinedTried != 180 {
		t.Errorf("%d lines, %d tried, %d found", len(lines), r.MinedTried, r.MinedFound)
	}
}

// A site without other pages gets at most 20 requests more. One that answers everything with a page that has only its
// address gets 4 more than that, and 20 more if the first such page has further words. All that has links is fetched.
func TestMining_stopsWhereItDoesNotPay(t *testing.T) {
	for _, c := range []struct {
		site               string
		pages, tried, most int64
	}{{"soft.test", 3, 44, 1}, {"plain.test", 301, 20, 0}, {"sorry.test", 31, 44, 1}, {"echo.test", 31, 24, 0}} {
		lines, r := mineOf(t, c.site, "siblings", "ancestors")
		if r.MinedTried < 19 || r.MinedTried > c.tried || r.MinedFound > c.most || int64(len(lines)) != c.pages+r.MinedTried {
			t.Errorf("%s: %d lines, %d tried, %d found", c.site, len(lines), r.MinedTried, r.MinedFound)
		}
	}
}

// A series without end is fetched up to the limit of a site.
func TestMining_hasALimit(t *testing.T) {
	lines, r := mineOf(t, "endless.test", "siblings")
	if most := int64(2000); r.MinedTried > most || r.MinedTried < most-10 {
		t.Errorf("%d tried, %d lines", r.MinedTried, len(lines))
	}
}

// hiddenCrawl crawls a web with two separate components, and with series or folders on a share of the hosts; no page
// links to 40 % of their pages. Seeds beyond the first five are those of separate components.
func hiddenCrawl(t *testing.T, seed uint64, series, folders float64, seeds int, how ...string) (v judge.Verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		world := simweb.Plain()
		world.Seed, world.Hosts, world.PageBytesMean, world.PagesPerHostMean = seed, 120, 2000, 30
		world.Hidden = simweb.Hidden{Separate: 2, SeparateHosts: 10, Series: series, Folders: folders, Unlinked: 0.4}
		rig := testbed.MustRig(t, world, true)
		rig.Seeds = rig.World.Seeds(5)[:seeds]
		cfg := rig.Config()
		cfg.Seeds, cfg.Mining.Mine = testbed.Seeds(rig.Seeds), how
		rig.MustCrawl(t, cfg, rig.FS)
		crawled, err := captures.All(rig.FS, "crawl/warc")
		if err != nil {
			t.Fatal(err)
		}
		v = rig.World.Judge(rig.Log, judge.Promise{
			HostDelay: cfg.Politeness.HostDelay, IPDelay: cfg.Politeness.IPDelay, Expect: judge.ExpectOptions{Seeds: rig.Seeds},
		}, crawled)
	})
	t.Logf("seed %d, series on %.1f and folders on %.1f of the hosts, %d seeds, %v: recall %.3f of %d, "+
		"%.2f requests a find, %d pages",
		seed, series, folders, seeds, how, v.Recall(), v.Unlinked, v.RequestsPerFind(), v.Fetched)
	if !v.Sound() {
		t.Errorf("seed %d, %v: %+v", seed, how, v)
	}
	return v
}

// Of the pages in series that no page links to, nine in ten are found. Sites without series cost the most requests.
// Without --mine there is none. Separate components are crawled with their seeds only.
func TestMining_findsUnlinkedPagesOfASimulatedWeb(t *testing.T) {
	for i := range uint64(testbed.Reduce(3, 1)) {
		seed := *testbed.FirstSeed + i
		few, all := hiddenCrawl(t, seed, 0.3, 0, 7, "siblings"), hiddenCrawl(t, seed, 1, 0, 7, "siblings")
		if few.Unlinked < 100 || few.Recall() < 0.9 || few.RequestsPerFind() > 8 {
			t.Errorf("seed %d: recall %.3f, %.2f requests a find", seed, few.Recall(), few.RequestsPerFind())
		}
		if all.Recall() < 0.9 || all.RequestsPerFind() > 2 {
			t.Errorf("seed %d, series everywhere: recall %.3f, %.2f requests a find", seed, all.Recall(),
				all.RequestsPerFind())
		}
		plain := hiddenCrawl(t, seed, 0.3, 0, 7)
		if plain.UnlinkedFound+plain.MinedMisses+plain.MinedHits > 0 || plain.Fetched != few.Fetched {
			t.Errorf("seed %d, without: %+v", seed, plain)
		}
		if rest := hiddenCrawl(t, seed, 0.3, 0, 5); rest.Fetched >= plain.Fetched {
			t.Errorf("seed %d, without the seeds of separate components: %+v", seed, rest)
		}
	}
}

// Four in five of the folders that no page links to are found, and more if all sites have some. A site has some 20
// requests for folders without a page. The cost of a find is that of all webs: one may have a few dozen such folders.
func TestMining_findsUnlinkedFoldersOfASimulatedWeb(t *testing.T) {
	var ofFew judge.Verdict
	for i := range uint64(testbed.Reduce(3, 1)) {
		seed := *testbed.FirstSeed + i
		few := hiddenCrawl(t, seed, 0, 0.3, 7, "ancestors")
		if few.Recall() < 0.8 {
			t.Errorf("seed %d: recall %.3f of %d", seed, few.Recall(), few.Unlinked)
		}
		ofFew.Unlinked += few.Unlinked
		ofFew.UnlinkedFound += few.UnlinkedFound
		ofFew.MinedHits += few.MinedHits
		ofFew.MinedMisses += few.MinedMisses
		if plain := hiddenCrawl(t, seed, 0, 0.3, 7); plain.UnlinkedFound > 0 || plain.Fetched != few.Fetched {
			t.Errorf("seed %d, without: %+v", seed, plain)
		}
		if testbed.Reduced {
			continue
		}
		all := hiddenCrawl(t, seed, 0, 1, 7, "ancestors")
		if all.Recall() < 0.9 || all.RequestsPerFind() > 8 {
			t.Errorf("seed %d, everywhere: recall %.3f, %.2f requests a find", seed, all.Recall(), all.RequestsPerFind())
		}
	}
	if ofFew.Unlinked < 50 || ofFew.RequestsPerFind() > 20 {
		t.Errorf("%d unlinked, %.2f requests a find", ofFew.Unlinked, ofFew.RequestsPerFind())
	}
}
