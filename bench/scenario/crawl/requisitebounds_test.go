package crawl

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/traps/skipped"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/guest"
)

// demanding is a guest: a site whose first page links to many others. What a page needs beside that, and what these
// requisites need, is a matter of the test.
type demanding struct {
	pages int
	needs func(page int) string                 // HTML of a page; page 0 is the first
	other func(path string) (kind, body string) // an answer to another path

	mu       sync.Mutex
	began    time.Time // the first request
	pagesEnd time.Time // the last new page
	asked    map[string]int
}

// Host implements guest.Guest.
func (g *demanding) Host(name string) (address netip.Addr, ok bool) {
	return netip.AddrFrom4([4]byte{198, 51, 100, 1}), name == "site.test"
}

// Serve implements guest.Guest.
func (g *demanding) Serve(conn net.Conn, r guest.Request) guest.Result {
	reply := guest.Reply{Status: 200, Type: "text/html"}
	var page int
	_, err := fmt.Sscanf(r.Path, "/p%d", &page)
	isPage := err == nil || r.Path == "/"
	switch {
	case r.Path == "/robots.txt":
		reply.Status = 404
	case isPage:
		reply.Body = g.page(page)
	default:
		var body string
		reply.Type, body = g.other(r.Path)
		reply.Body = []byte(body)
	}
	g.note(r.Path, isPage)
	return reply.Send(conn)
}

func (g *demanding) page(page int) (b []byte) {
	if page == 0 {
		for i := range g.pages {
			b = fmt.Appendf(b, "<a href=/p%d>page</a>", i+1)
		}
	}
	return fmt.Appendf(b, "text of page %d %s", page, g.needs(page))
}

func (g *demanding) note(path string, isPage bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked == nil {
		g.asked, g.began = map[string]int{}, time.Now()
	}
	if g.asked[path]++; isPage && g.asked[path] == 1 {
		g.pagesEnd = time.Now()
	}
}

// count returns how many different paths with a prefix were asked for.
func (g *demanding) count(prefix string) (n int) {
	for path := range g.asked {
		if strings.HasPrefix(path, prefix) {
			n++
		}
	}
	return n
}

// delayOf is the host delay of these crawls.
const delayOf = 100 * time.Millisecond

// slowdown is how long the pages took, in times that they need alone.
func (g *demanding) slowdown() float64 {
	alone := time.Duration(g.pages) * (delayOf + 6*time.Millisecond) // with the latency of an exchange
	return float64(g.pagesEnd.Sub(g.began)) / float64(alone)
}

// crawlDemanding crawls the guest within a bubble.
func crawlDemanding(t *testing.T, g *demanding, rig *testbed.Rig, change func(*engine.Config)) report.Report {
	t.Helper()
	rig.World.Invite(g)
	cfg := engine.Simulation()
	cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://site.test/"}, "domain"
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = delayOf, time.Millisecond
	change(&cfg)
	r, err := rig.Crawl(t.Context(), cfg, rig.FS)
	if err := errors.Join(err, rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// oneWorld is a rig with nothing but guests.
func oneWorld(t *testing.T) *testbed.Rig {
	t.Helper()
	return testbed.MustRig(t, simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
}

// images are tags of different images with a prefix.
func images(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<img src=%s%d.png>", prefix, i)
	}
	return b.String()
}

// different answers each path with an image of its own. Its bytes are random, as those of images are.
func different(path string) (kind, body string) {
	rng := rand.New(rand.NewPCG(xxh3.HashString(path), 1))
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00")
	for range 200 {
		b = append(b, byte(rng.Uint32()))
	}
	return "image/png", string(b)
}

// firstOnly is what the first page needs.
func firstOnly(html string) func(int) string {
	return func(page int) string {
		if page > 0 {
			return ""
		}
		return html
	}
}

// The other pages of a site take at most twice as long if one page needs far more than they are, and nothing of it is
// lost: images in thousands, style sheets that import others without end, in a chain or in a tree.
func TestRequisites_ofOnePageDelayTheOthersByAFactorOfTwo(t *testing.T) {
	sheet := func(fanOut int) func(string) (kind, body string) {
		return func(path string) (kind, body string) {
			for i := range fanOut {
				body += fmt.Sprintf("@import %q;\n", fmt.Sprintf("%s%d.css", strings.TrimSuffix(path, ".css"), i))
			}
			return "text/css", body + path
		}
	}
	for _, c := range []struct {
		name  string
		pages int
		needs string
		other func(string) (kind, body string)
		ends  bool
	}{
		{"3000 images", 600, images("/i", 3000), different, true},
		{"a chain of imports", 300, "<link rel=stylesheet href=/c.css>", sheet(1), false},
		{"a tree of imports", 1200, "<link rel=stylesheet href=/c.css>", sheet(10), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &demanding{pages: c.pages, needs: firstOnly(c.needs), other: c.other}
				r := crawlDemanding(t, g, oneWorld(t), func(cfg *engine.Config) {
					if !c.ends {
						cfg.Limits.MaxTime = limits.For(2 * time.Duration(c.pages) * (delayOf + 10*time.Millisecond))
					}
				})
				t.Logf("the pages took %.2f times as long; %d images, %d style sheets", g.slowdown(), g.count("/i"),
					g.count("/c"))
				if n := g.count("/p"); n != c.pages || g.slowdown() > 2 {
					t.Errorf("%d of %d pages, %.2f times as long as alone", n, c.pages, g.slowdown())
				}
				if c.ends && (r.Reason != "complete" || g.count("/i") != 3000) {
					t.Errorf("%s, %d images", r.Reason, g.count("/i"))
				}
			})
		})
	}
}

// Pages beside the one with too many images have their own before the next page, as if it was not there.
func TestRequisites_ofOtherPagesDoNotWaitForThoseOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &demanding{pages: 100, other: different}
		g.needs = func(page int) string {
			if page == 0 {
				return images("/i", 3000)
			}
			return images(fmt.Sprintf("/own%d-", page), 3)
		}
		crawlDemanding(t, g, oneWorld(t), func(c *engine.Config) { c.Limits.MaxTime = limits.For(90 * time.Second) })
		pages, own := g.count("/p"), g.count("/own")
		t.Logf("%d pages, %d of their images, %d of the first page", pages, own, g.count("/i"))
		if pages < 90 || own < 3*(pages-2) {
			t.Errorf("%d pages have %d of their images", pages, own)
		}
	})
}

// eachSkipped returns the rules of the URLs that a crawl has left out.
func eachSkipped(t *testing.T, rig *testbed.Rig) map[skipped.Rule]int {
	t.Helper()
	rules := map[skipped.Rule]int{}
	if err := inspect.EachSkipped(rig.FS, "crawl", func(s skipped.URL) error { rules[s.Rule]++; return nil }); err != nil {
		t.Fatal(err)
	}
	return rules
}

// A page has at most --max-requisites-per-page requisites. The others are listed, and a higher limit fetches them. The
// order of the document decides, and what is repeated counts once.
func TestRequisites_beyondTheLimitOfAPageAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &demanding{pages: 3, other: different}
		g.needs = firstOnly(strings.Repeat("<img src=/i0.png>", 300) + images("/i", 250))
		rig := oneWorld(t)
		r := crawlDemanding(t, g, rig, func(c *engine.Config) { c.Admission.MaxRequisites = 100 })
		if g.count("/i") != 100 || g.asked["/i99.png"] != 1 || r.Outcomes["quota-requisites"] != 150 ||
			r.Skipped["requisites-per-page"] != 150 || eachSkipped(t, rig)[skipped.RuleRequisitesOfPage] != 150 {
			t.Errorf("%d images; %v, %v", g.count("/i"), r.Outcomes, r.Skipped)
		}
		rig.Connect()
		r = crawlDemanding(t, g, rig, func(*engine.Config) {})
		if g.count("/i") != 250 || r.Outcomes["quota-requisites"] != 0 || len(eachSkipped(t, rig)) != 0 {
			t.Errorf("with a higher limit: %d images; %v", g.count("/i"), r.Outcomes)
		}
	})
}

// A page whose srcset never ends is a page with --max-requisites-per-page images, and the crawl ends, also at
// --max-pages.
func TestRequisites_ofAFloodEnd(t *testing.T) {
	for _, most := range []int64{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			g := &demanding{pages: 3, other: different}
			var set strings.Builder
			for i := range 4000 {
				fmt.Fprintf(&set, "/i%d.png %dw, ", i, i+1)
			}
			g.needs = firstOnly("<img srcset=\"" + strings.TrimSuffix(set.String(), ", ") + "\">")
			r := crawlDemanding(t, g, oneWorld(t), func(c *engine.Config) {
				c.Limits.MaxPages, c.Admission.MaxRequisites = most, 1500
			})
			want := map[int64]string{0: "complete", 1: "max-pages reached"}
			if n := g.count("/i"); n != 1500 || r.Reason != want[most] {
				t.Errorf("at %d pages: %d images, %s, %d queued", most, n, r.Reason, r.URLsQueued)
			}
		})
	}
}

// At --max-pages all requisites of the stored pages are fetched, also those that share the turns of the site with its
// pages. Requisites are no pages.
func TestRequisites_areNoPagesAtTheLimitOfPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &demanding{pages: 50, other: different}
		g.needs = func(page int) string { return images(fmt.Sprintf("/i%d-", page), 700) }
		r := crawlDemanding(t, g, oneWorld(t), func(c *engine.Config) { c.Limits.MaxPages = 3 })
		if r.Reason != "max-pages reached" || r.PagesStored != 3+2100 || r.RequisitesStored != 2100 || g.count("/i") != 2100 {
			t.Errorf("%s: %d stored, %d of them requisites; %d images", r.Reason, r.PagesStored, r.RequisitesStored,
				g.count("/i"))
		}
	})
}

// The bounds hold over kills: what shares the turns of the site does so in the next run, and nothing is lost.
func TestRequisites_keepTheirBoundsOverKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &demanding{pages: 500, needs: firstOnly(images("/i", 2500)), other: different}
		rig := oneWorld(t)
		rig.World.Invite(g)
		cfg := engine.Simulation()
		cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://site.test/"}, "domain"
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = delayOf, time.Millisecond
		disk := rig.FS
		for range 3 {
			var ended bool
			if disk, ended = testbed.Kill(t, rig, cfg, disk, 15*time.Second, testbed.Sigkill); ended {
				t.Fatal("the crawl ended before it was killed")
			}
			rig.Connect()
		}
		r, err := rig.Crawl(context.WithoutCancel(t.Context()), cfg, disk)
		if err := errors.Join(err, rig.Net.Close()); err != nil {
			t.Fatal(err)
		}
		t.Logf("the pages took %.2f times as long", g.slowdown())
		if r.Reason != "complete" || g.count("/i") != 2500 || g.count("/p") != 500 || g.slowdown() > 2.2 {
			t.Errorf("%s: %d images, %d pages, %.2f times as long", r.Reason, g.count("/i"), g.count("/p"), g.slowdown())
		}
	})
}

// The crawl log names the page of each requisite without --warc-via, over redirects and kills, and of no other URL.
func TestRequisites_haveTheirPageInTheCrawlLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &demanding{pages: 100, other: different}
		g.needs = func(page int) string { return images(fmt.Sprintf("/own%d-", page), 2) }
		rig := oneWorld(t)
		rig.World.Invite(g)
		cfg := engine.Simulation()
		cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://site.test/"}, "domain"
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = delayOf, time.Millisecond
		disk, ended := testbed.Kill(t, rig, cfg, rig.FS, 10*time.Second, testbed.Sigkill)
		if ended {
			t.Fatal("the crawl ended before it was killed")
		}
		rig.Connect()
		_, err := rig.Crawl(context.WithoutCancel(t.Context()), cfg, disk)
		if err := errors.Join(err, rig.Net.Close()); err != nil {
			t.Fatal(err)
		}
		named := 0
		_, err = crawllog.Read(t.Context(), disk, "crawl/logs", crawllog.Position{}, func(l *crawllog.Line) error {
			var page, image int
			_, scanned := fmt.Sscanf(string(l.URL), "http://site.test/own%d-%d.png", &page, &image)
			want := fmt.Sprintf("http://site.test/p%d", page)
			if page == 0 {
				want = "http://site.test/"
			}
			switch {
			case scanned != nil && l.Via != nil, scanned == nil && l.Via != nil && string(l.Via) != want:
				t.Errorf("%s has the page %s", l.URL, l.Via)
			case scanned == nil && l.Via == nil && !l.Has("restored"):
				t.Errorf("%s has no page", l.URL)
			case scanned == nil && l.Via != nil:
				named++
			}
			return nil
		})
		if err != nil || named < 160 {
			t.Errorf("%d images with their page: %v", named, err)
		}
	})
}

// letters is a word of its own for each number.
func letters(n int) string {
	b := []byte("word")
	for ; n > 0; n /= 26 {
		b = append(b, 'a'+byte(n%26))
	}
	return string(b)
}

// Icons, style sheets and data of a site say little in words, and each is another file. What pages need is not delayed
// for that: a crawl that stops at a limit of pages has all of it.
func TestRequisites_withoutNewTextAreNotDelayed(t *testing.T) {
	for kind, body := range map[string]string{
		"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg"><title>icon</title><path d="M %d 4"/></svg>`,
		"text/css":      `.icon { top: %dpx }`,
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &demanding{pages: 400}
				g.needs = func(page int) string {
					text := letters(page)
					for i := range 3 {
						if kind == "text/css" {
							text += fmt.Sprintf("<link rel=stylesheet href=/icons/%d.css>", 3*page+i)
						} else {
							text += fmt.Sprintf("<img src=/icons/%d.svg>", 3*page+i)
						}
					}
					return text
				}
				g.other = func(path string) (string, string) {
					var n int
					fmt.Sscanf(path, "/icons/%d", &n)
					return kind, fmt.Sprintf(body, n)
				}
				r := crawlDemanding(t, g, oneWorld(t), func(c *engine.Config) { c.Limits.MaxPages = 200 })
				pages, icons := g.count("/p")+1, g.count("/icons/")
				if pages != 200 || icons != 3*pages || r.NoveltyDelayed > 0 {
					t.Errorf("%s: %d pages have %d of their %d files, %d delayed", r.Reason, pages, icons, 3*pages,
						r.NoveltyDelayed)
				}
			})
		})
	}
}
