package crawl

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// sampleWeb is a guest: a site with an image of another host, a script, a sitemap, a page that fails four times, and
// links to other sites. One of these is at its address, one asks for a long delay, one has 1,200 pages, and a domain
// has 150 hosts.
type sampleWeb struct {
	hasTrap bool          // the site has a calendar without end
	endsAt  time.Duration // from then on the site refuses everything; 0 for never
	began   time.Time

	mu       sync.Mutex
	requests []sampleRequest
	failures int
}

type sampleRequest struct {
	host, path string
	begin, end time.Time
}

const samplePages = 1200 // of long.test

// Host implements simweb.Guest.
func (*sampleWeb) Host(name string) (address netip.Addr, ok bool) {
	var n int
	if _, err := fmt.Sscanf(name, "h%d.many.test", &n); err == nil {
		return netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}), true
	}
	names := []string{"site.test", "twin.test", "image.test", "slow.test", "long.test", "www.site.test"}
	at := slices.Index(names, name)
	return netip.AddrFrom4([4]byte{198, 51, 100, byte(max(at, 1))}), at >= 0 // site and twin have one address
}

// Serve implements simweb.Guest.
func (g *sampleWeb) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	g.mu.Lock()
	g.requests = append(g.requests, sampleRequest{host: r.Authority, path: r.Path, begin: time.Now()})
	at := len(g.requests) - 1
	reply := g.reply(r.Authority, r.Path)
	g.mu.Unlock()
	if g.endsAt > 0 && time.Since(g.began) > g.endsAt {
		return simweb.GuestResult{}
	}
	result := reply.Send(conn)
	g.mu.Lock()
	g.requests[at].end = time.Now()
	g.mu.Unlock()
	return result
}

// reply is the answer to a request. The caller holds mu.
func (g *sampleWeb) reply(host, path string) simweb.GuestReply {
	text := func(mediaType, body string) simweb.GuestReply {
		return simweb.GuestReply{Status: 200, Type: mediaType, Body: []byte(body)}
	}
	var n int
	switch url := host + path; {
	case url == "site.test/":
		return text("text/html", g.home())
	case url == "site.test/robots.txt":
		return text("text/plain", "Sitemap: http://site.test/map.xml\n")
	case url == "slow.test/robots.txt":
		return text("text/plain", "User-agent: *\nCrawl-delay: 1200\n")
	case url == "site.test/map.xml":
		return text("text/xml", "<urlset><url><loc>http://site.test/unlinked</loc></url></urlset>")
	case url == "site.test/a.js":
		return text("text/javascript", `show("/guessed.html")`)
	case url == "image.test/i.png":
		return text("image/png", "i")
	case url == "slow.test/":
		return text("text/html", "<a href=/1><a href=/2>")
	case url == "site.test/fails" && g.failures < 4:
		g.failures++
		return simweb.GuestReply{Status: 500, Type: "text/html", Body: []byte("later")}
	case scanned(url, "site.test/day/%d", &n):
		page := ""
		for next := range 20 { // of the next twenty days; twenty days have one payload
			page += fmt.Sprintf("<a href=/day/%d>", n/20*20+20+next)
		}
		return text("text/html", page+"nothing on this day")
	case scanned(url, "long.test/%d", &n) && n < samplePages:
		return text("text/html", fmt.Sprintf("<a href=/%d>", n+1)+ownWords(n))
	case path == "/robots.txt":
		return simweb.GuestReply{Status: 404, Type: "text/html"}
	default:
		return text("text/html", "the end of "+path)
	}
}

func scanned(url, form string, n *int) bool {
	_, err := fmt.Sscanf(url, form, n)
	return err == nil
}

// ownWords is text that no page with another number has.
func ownWords(n int) (text string) {
	for i := range 30 {
		text += " "
		for k := n*31 + i*7 + 1000; k > 0; k /= 26 {
			text += string(rune('a' + k%26))
		}
	}
	return text
}

// home is the first page of the site.
func (g *sampleWeb) home() string {
	page := "<img src=http://image.test/i.png><script src=/a.js></script><a href=/fails><a rel=nofollow href=/marked>" +
		"<a href=http://twin.test/><a href=http://www.site.test/><a href=http://slow.test/><a href=http://long.test/0>"
	for i := range 6 {
		page += fmt.Sprintf("<a href=/p%d>", i)
	}
	for i := range 150 {
		page += fmt.Sprintf("<a href=http://h%d.many.test/>", i)
	}
	if g.hasTrap {
		page += "<a href=/day/0>"
	}
	return page
}

// count is the number of requests for URLs that begin so, robots.txt left out.
func (g *sampleWeb) count(prefix string) (n int) {
	for _, r := range g.requests {
		if strings.HasPrefix(r.host+r.path, prefix) && r.path != "/robots.txt" {
			n++
		}
	}
	return n
}

// expect checks the number of requests for URLs.
func (g *sampleWeb) expect(t *testing.T, least, most int, prefixes ...string) {
	t.Helper()
	for _, prefix := range prefixes {
		if n := g.count(prefix); n < least || n > most {
			t.Errorf("%d requests for %s, want %d to %d", n, prefix, least, most)
		}
	}
}

// shortestGap is the shortest time from the end of a request to these hosts to the begin of the next one.
func (g *sampleWeb) shortestGap(hosts ...string) time.Duration {
	least, last := time.Duration(1<<62), time.Time{}
	for _, r := range g.requests {
		if !slices.Contains(hosts, r.host) {
			continue
		}
		if !last.IsZero() {
			least = min(least, r.begin.Sub(last))
		}
		last = r.end
	}
	return least
}

// expectGaps checks the delays of the sites, and of the address of two of them.
func (g *sampleWeb) expectGaps(t *testing.T, hostDelay, addressDelay time.Duration) {
	t.Helper()
	for _, host := range []string{"site.test", "long.test"} {
		if gap := g.shortestGap(host); gap < hostDelay {
			t.Errorf("the shortest gap of %s is %v, want at least %v", host, gap, hostDelay)
		}
	}
	if gap := g.shortestGap("site.test", "twin.test"); gap < addressDelay {
		t.Errorf("the shortest gap of the address is %v, want at least %v", gap, addressDelay)
	}
}

// sampleSeed is the source of the seed.
type sampleSeed struct{}

// Each implements admission.SeedSource.
func (sampleSeed) Each(f func(where string, url []byte) error) error {
	return f("seed", []byte("http://site.test/"))
}

// crawlSample crawls the guest with a preset and other flags, on a disk in memory. It is called in a bubble.
func crawlSample(t *testing.T, g *sampleWeb, flags ...string) (report.Report, vfs.FS) {
	t.Helper()
	web, err := origin.New(simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}})
	if err != nil {
		t.Fatal(err)
	}
	web.Invite(g)
	network := simnet.New(web, simnet.Options{
		Latency: 2 * time.Millisecond,
		Serve:   origin.ServeOptions{Log: web.NewLog()},
	})
	resolver, err := dnsres.New(
		dnsres.Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}}, network,
	)
	if err != nil {
		t.Fatal(err)
	}
	flags = append([]string{"crawl", "--workbench-memory", "4MiB", "--cache-memory", "1MiB", "--sieve-memory", "1MiB",
		"--dedup-memory", "1MiB", "--user-agent", "orbweaver/test (+https://example.org/bot)", "--dir", "crawl"}, flags...)
	cfg := parsed(t, flags...).Config
	cfg.Seeds, cfg.Archive.Version = sampleSeed{}, "test"
	cfg.Workers.Fetchers = min(cfg.Workers.Fetchers, 64) // a thousand goroutines in a bubble take long
	g.began = time.Now()
	fsys := vfs.NewMem(1)
	e, err := engine.Open(cfg, engine.Seams{
		FS: fsys, Dialer: network, Resolver: resolver, Log: slog.New(slog.DiscardHandler),
		Allowed: func(netip.AddrPort) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Run(t.Context()), e.Close(), network.Close()); err != nil {
		t.Fatal(err)
	}
	return e.Report(), fsys
}

// Polite: requests come more slowly than by default, a longer Crawl-delay is kept whole, and links that are marked or
// guessed are left alone.
func TestPreset_politeCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(sampleWeb)
		crawlSample(t, g, "--preset", "polite", "--scope", "all", "--max-per-host", "50")
		g.expectGaps(t, 15*time.Second, 5*time.Second)
		if gap := g.shortestGap("slow.test"); gap < 20*time.Minute {
			t.Errorf("the shortest gap of slow.test is %v, and its Crawl-delay is 20m", gap)
		}
		g.expect(t, 0, 0, "site.test/marked", "site.test/guessed", "site.test/unlinked")
		g.expect(t, 1, 1, "image.test/i.png", "site.test/p3", "slow.test/2", "h149.many.test/")
	})
}

// Archive: a page comes with its requisites from any host, with pages of the sitemap and guessed ones, and after many
// tries. Its metadata record says where it came from and where it leads.
func TestPreset_archiveCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(sampleWeb)
		_, fsys := crawlSample(t, g, "--preset", "archive")
		g.expectGaps(t, 4*time.Second, 500*time.Millisecond)
		g.expect(t, 1, 1, "image.test/i.png", "site.test/unlinked", "site.test/guessed.html", "site.test/marked",
			"www.site.test/")
		g.expect(t, 5, 5, "site.test/fails")
		g.expect(t, 0, 0, "twin.test", "long.test", "h1.many.test")
		fields, responses := map[string]string{}, map[string]bool{}
		err := captures.RecordsAt(fsys, "crawl/warc", func(_ warc.Checkpoint, rec *warc.RecordRead) error {
			if _, err := rec.ReadBlock(1 << 24); err != nil {
				return err
			}
			switch rec.Type {
			case warc.Metadata:
				fields[rec.Get("WARC-Target-URI")] += string(rec.Block)
			case warc.Response:
				responses[rec.Get("WARC-Target-URI")] = rec.IsHTTP()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for url, isHTTP := range responses {
			if isHTTP && fields[url] == "" {
				t.Errorf("%s has no metadata record", url)
			}
		}
		for url, field := range map[string]string{
			"http://image.test/i.png": "via: http://site.test/", "http://site.test/p3": "via: http://site.test/",
			"http://site.test/": "outlink: http://image.test/i.png",
		} {
			if !strings.Contains(fields[url], field) {
				t.Errorf("the metadata of %s lack %q:\n%s", url, field, fields[url])
			}
		}
	})
}

// Broad: no requisite and no guess is fetched, no site has more than 1,000 pages and no domain more than 100 hosts, and
// a trap is left after some hundreds of requests.
func TestPreset_broadCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &sampleWeb{hasTrap: true}
		crawlSample(t, g, "--preset", "broad")
		g.expectGaps(t, 4*time.Second, 500*time.Millisecond)
		g.expect(t, 0, 0, "image.test", "site.test/a.js", "site.test/guessed")
		g.expect(t, 1, 1, "twin.test/", "slow.test/2", "site.test/p3")
		g.expect(t, 1000, 1000, "long.test/")
		g.expect(t, 64, 600, "site.test/day/")
		hosts := map[string]bool{}
		for _, r := range g.requests {
			if strings.HasSuffix(r.host, ".many.test") {
				hosts[r.host] = true
			}
		}
		if len(hosts) != 100 {
			t.Errorf("%d hosts of a domain were asked, want 100", len(hosts))
		}
	})
}

// Site: only the host of the seed has pages fetched, with requisites of other hosts and the pages of its sitemap. A
// trap costs a thousand requests, or a few.
func TestPreset_siteCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &sampleWeb{hasTrap: true}
		crawlSample(t, g, "--preset", "site")
		g.expectGaps(t, 4*time.Second, 500*time.Millisecond)
		g.expect(t, 1, 1, "image.test/i.png", "site.test/a.js", "site.test/unlinked", "site.test/p3")
		g.expect(t, 0, 0, "www.site.test", "twin.test", "slow.test", "long.test", "h1.many.test")
		g.expect(t, 1000, 4000, "site.test/day/")
	})
}

// A site that is down holds a crawl for ten minutes with the preset site, and not for an hour. It can be resumed.
func TestPreset_siteIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &sampleWeb{endsAt: 12 * time.Second}
		r, _ := crawlSample(t, g, "--preset", "site")
		if took := time.Since(g.began); r.State != lifecycle.Stalled || took < 10*time.Minute || took > 20*time.Minute {
			t.Errorf("%s after %v, want stalled after ten minutes", r.State, took)
		}
	})
}
