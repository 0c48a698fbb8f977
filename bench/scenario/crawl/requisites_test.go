package crawl

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/guest"
)

// illustrated is a guest: a site of many pages, each with its own image, and with style sheets, a frame and an image of
// other hosts. Those hosts have pages, too, which are no part of the crawl.
type illustrated struct {
	pages int

	mu    sync.Mutex
	asked []request
}

// request is a request for a guest.
type request struct {
	url string
	at  time.Time
}

// Host implements guest.Guest. Each host has an address of its own.
func (g *illustrated) Host(name string) (address netip.Addr, ok bool) {
	for i, host := range []string{"site.test", "cdn.example", "frame.example", "img.example"} {
		if name == host {
			return netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)}), true
		}
	}
	return netip.Addr{}, false
}

// Serve implements guest.Guest.
func (g *illustrated) Serve(conn net.Conn, r guest.Request) guest.Result {
	g.mu.Lock()
	g.asked = append(g.asked, request{"http://" + r.Authority + r.Path, time.Now()})
	g.mu.Unlock()
	reply := guest.Reply{Status: 200, Type: "text/html", Body: g.body(r.Authority + r.Path)}
	switch {
	case reply.Body == nil:
		reply.Status = 404
	case strings.HasSuffix(r.Path, ".css"):
		reply.Type = "text/css"
	case strings.HasSuffix(r.Path, ".png"):
		reply.Type = "image/png"
	case r.Path == "/robots.txt":
		reply.Type = "text/plain"
	}
	return reply.Send(conn)
}

// body is the answer to a URL without its scheme; nil if there is none.
func (g *illustrated) body(url string) []byte {
	const otherPages = "<a href=http://frame.example/other>other</a>"
	switch url {
	case "cdn.example/robots.txt":
		return []byte("User-agent: *\nDisallow: /private/\nSitemap: http://cdn.example/sitemap.xml\n")
	case "cdn.example/a.css":
		return []byte(`@import "b.css"; body { background: url(/private/back.png) }`)
	case "cdn.example/b.css":
		return []byte("p { background: url(http://img.example/deep.png) }")
	case "frame.example/":
		return []byte("<img src=inner.png><a href=http://site.test/from-frame>in</a>" + otherPages)
	case "img.example/deep.png", "frame.example/inner.png", "site.test/from-frame":
		return []byte("x" + url)
	}
	var n int
	if _, err := fmt.Sscanf(url, "site.test/%d.png", &n); err == nil {
		_, picture := different(url)
		return []byte(picture)
	}
	if _, err := fmt.Sscanf(url, "site.test/p%d", &n); url != "site.test/" && err != nil {
		return nil
	}
	page := []byte("<link rel=stylesheet href=http://cdn.example/a.css><iframe src=http://frame.example/></iframe>")
	for i := range g.pages { // links first, so that the images would come last
		page = fmt.Appendf(page, "<a href=/p%d>%s</a>", i+1, strings.Repeat("word ", n%7))
	}
	return fmt.Appendf(page, "<a href=http://cdn.example/about>about</a><img src=/%d.png>", n)
}

// crawlIllustrated crawls the guest within a bubble, and returns the report and the disk.
func crawlIllustrated(t *testing.T, g *illustrated, change func(*engine.Config)) (report.Report, *testbed.Rig) {
	t.Helper()
	rig, err := testbed.NewRig(simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	rig.World.Invite(g)
	cfg := engine.Simulation()
	cfg.Seeds, cfg.Filters.Scope, cfg.Admission.Sitemaps = testbed.Seeds{"http://site.test/"}, "domain", true
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 4*time.Second, 500*time.Millisecond
	change(&cfg)
	r, err := rig.Crawl(t.Context(), cfg, rig.FS)
	if err := errors.Join(err, rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	return r, rig
}

// final returns the final lines of crawl.log by URL.
func final(t *testing.T, rig *testbed.Rig) map[string]string {
	t.Helper()
	lines := map[string]string{}
	_, err := crawllog.Read(t.Context(), rig.FS, "crawl/logs", crawllog.Position{}, func(l *crawllog.Line) error {
		if l.IsFinal() {
			lines[string(l.URL)] = fmt.Sprintf("%s %s", l.Outcome, l.Hops)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// The requisites of the pages of a site are fetched from any host, and the requisites of those. No page of these hosts
// is fetched, though pages link to them, and though their robots.txt names a sitemap. crawl.log tells the hops.
func TestRequisites_ofOtherHostsAreFetchedAndNoPageOfTheseHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &illustrated{pages: 3}
		r, rig := crawlIllustrated(t, g, func(*engine.Config) {})
		lines := final(t, rig)
		for url, want := range map[string]string{
			"http://site.test/": "ok ", "http://site.test/p3": "ok L", "http://site.test/0.png": "ok E",
			"http://site.test/3.png": "ok LE", "http://cdn.example/a.css": "ok E", "http://cdn.example/b.css": "ok EE",
			"http://cdn.example/private/back.png": "robots-denied EE", "http://img.example/deep.png": "ok EEE",
			"http://frame.example/": "ok E", "http://frame.example/inner.png": "ok EE",
			"http://site.test/from-frame": "ok L", // the frame is no further from the seed than its page
		} {
			if lines[url] != want {
				t.Errorf("%s: %q, want %q", url, lines[url], want)
			}
			delete(lines, url)
		}
		for i := range 3 {
			delete(lines, fmt.Sprintf("http://site.test/p%d", i+1))
			delete(lines, fmt.Sprintf("http://site.test/%d.png", i+1))
		}
		if len(lines) > 0 || r.Reason != "complete" {
			t.Errorf("%s; beside these: %v", r.Reason, lines)
		}
	})
}

// With --requisites same-scope or off, no other host is asked.
func TestRequisites_otherHostsAreNotAskedWithinTheScope(t *testing.T) {
	for _, which := range []admission.Requisites{admission.RequisitesSameScope, admission.RequisitesOff} {
		synctest.Test(t, func(t *testing.T) {
			g := &illustrated{pages: 3}
			_, rig := crawlIllustrated(t, g, func(c *engine.Config) { c.Admission.Requisites = which })
			for _, r := range g.asked {
				if !strings.HasPrefix(r.url, "http://site.test/") {
					t.Errorf("%d: %s was asked for", which, r.url)
				}
			}
			want := map[admission.Requisites]string{admission.RequisitesSameScope: "ok LE", admission.RequisitesOff: "ok LL"}
			if got := final(t, rig)["http://site.test/3.png"]; got != want[which] {
				t.Errorf("%d: an image of the site: %q", which, got)
			}
		})
	}
}

// The requisites of a page are fetched before more pages of their site, also if hundreds of pages are queued before
// them, and each host keeps its delay.
func TestRequisites_comeBeforeMorePagesAndKeepTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &illustrated{pages: 300}
		r, _ := crawlIllustrated(t, g, func(c *engine.Config) { c.Workers.SiteItems = 8 })
		if r.Reason != "complete" || r.PagesStored < 600 {
			t.Errorf("%s, %d pages", r.Reason, r.PagesStored)
		}
		last, waiting := map[string]time.Time{}, map[int]bool{}
		for _, a := range g.asked {
			host, _, _ := strings.Cut(strings.TrimPrefix(a.url, "http://"), "/")
			if gap := a.at.Sub(last[host]); gap < 4*time.Second {
				t.Errorf("%s was asked for %v after the last request to its host", a.url, gap)
			}
			last[host] = a.at
			var n int
			if _, err := fmt.Sscanf(a.url, "http://site.test/p%d", &n); err == nil {
				waiting[n] = true
			} else if _, err := fmt.Sscanf(a.url, "http://site.test/%d.png", &n); err == nil {
				delete(waiting, n)
			}
			// A page may be asked for while the links of the page before it pass the sieve.
			if len(waiting) > 2 {
				t.Fatalf("%d pages have no image when %s is asked for", len(waiting), a.url)
			}
		}
	})
}

// A crawl that ends at --max-pages has all requisites of the pages that it stored, or a line that says why not. The
// rest of the pages is still queued, and a higher limit fetches it.
func TestRequisites_ofAllStoredPagesAreFetchedAtTheLimitOfPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &illustrated{pages: 100}
		r, rig := crawlIllustrated(t, g, func(c *engine.Config) { c.Limits.MaxPages = 30 })
		stored := r.PagesStored + r.RevisitsStored
		documents := stored - r.RequisitesStored - r.RequisitesRevisited
		if r.Reason != "max-pages reached" || documents != 30 || stored > 30+30+6 || r.URLsQueued < 50 {
			t.Errorf("%s: %d stored, %d of them documents, %d URLs queued", r.Reason, stored, documents, r.URLsQueued)
		}
		lines := final(t, rig)
		pages := 0
		for url := range lines {
			var n int
			if _, err := fmt.Sscanf(url, "http://site.test/p%d", &n); err != nil {
				continue
			}
			pages++
			if image := fmt.Sprintf("http://site.test/%d.png", n); lines[image] != "ok LE" {
				t.Errorf("%s is stored, and its image has %q", url, lines[image])
			}
		}
		for _, url := range []string{"http://cdn.example/a.css", "http://cdn.example/b.css", "http://img.example/deep.png",
			"http://cdn.example/private/back.png", "http://frame.example/inner.png", "http://site.test/0.png"} {
			if lines[url] == "" {
				t.Errorf("%s has no line", url)
			}
		}
		if pages < 10 {
			t.Errorf("only %d pages", pages)
		}
	})
}
