package crawl

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// albums is a guest: hosts with pages that link to all pages of their host. Each page needs a style sheet of its host
// and images of its own.
type albums struct{ hosts, images int }

const albumPages = 100 // of each host

// hostName is the name of host i.
func hostName(i int) string { return fmt.Sprintf("h%d.test", i) }

// Host implements simweb.Guest. Each host has an address of its own.
func (g *albums) Host(name string) (address netip.Addr, ok bool) {
	var i int
	if _, err := fmt.Sscanf(name, "h%d.test", &i); err != nil || i >= g.hosts || name != hostName(i) {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}), true
}

// Serve implements simweb.Guest.
func (g *albums) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 200, Type: "text/html"}
	var host, page int
	switch _, err := fmt.Sscanf(r.Authority+r.Path, "h%d.test/p%d", &host, &page); {
	case r.Path == "/robots.txt":
		reply.Status = 404
	case strings.HasSuffix(r.Path, ".png") || strings.HasSuffix(r.Path, ".css"):
		_, body := different(r.Authority + r.Path)
		reply.Type, reply.Body = "application/octet-stream", []byte(body)
	case err != nil:
		reply.Status = 404
	default:
		<-time.After(time.Duration(host%20) * 10 * time.Millisecond) // so that the hosts are not asked all at once
		reply.Body = g.page(page)
	}
	return reply.Send(conn)
}

// page is a page. Its links come first, so that its requisites would come last.
func (g *albums) page(page int) (b []byte) {
	for i := range albumPages {
		b = fmt.Appendf(b, "<a href=/p%d>page</a>", i)
	}
	for _, path := range g.requisites(page) {
		b = fmt.Appendf(b, "<img src=%s>", path)
	}
	return b
}

// requisites are the paths of what a page needs.
func (g *albums) requisites(page int) []string {
	list := []string{"/all.css"}
	for i := range g.images {
		list = append(list, fmt.Sprintf("/p%d-%d.png", page, i))
	}
	return list
}

// stored counts the pages in an archive, and those that have all their requisites there.
func (g *albums) stored(t *testing.T, disk vfs.FS) (pages, replayable int) {
	t.Helper()
	have := map[string]bool{}
	err := captures.Each(disk, "crawl/warc", func(c judge.Capture) { have[c.URL] = have[c.URL] || c.Status == 200 })
	if err != nil {
		t.Fatal(err)
	}
	for url := range maps.Keys(have) {
		var host, page int
		if _, err := fmt.Sscanf(url, "http://h%d.test/p%d", &host, &page); err != nil || strings.HasSuffix(url, ".png") {
			continue
		}
		pages++
		whole := true
		for _, path := range g.requisites(page) {
			whole = whole && have["http://"+hostName(host)+path]
		}
		if whole {
			replayable++
		}
	}
	return pages, replayable
}

// stopped is a way to end a crawl before it is complete.
type stopped func(t *testing.T, rig *testbed.Rig, cfg engine.Config) vfs.FS

// afterPages ends at --max-pages.
func afterPages(n int64) stopped {
	return func(t *testing.T, rig *testbed.Rig, cfg engine.Config) vfs.FS {
		t.Helper()
		cfg.Limits.MaxPages = n
		r, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if err := errors.Join(err, rig.Net.Close()); err != nil || r.Reason != "max-pages reached" {
			t.Fatalf("%s: %v", r.Reason, err)
		}
		return rig.FS
	}
}

// killedAfter ends with SIGKILL.
func killedAfter(d time.Duration) stopped {
	return func(t *testing.T, rig *testbed.Rig, cfg engine.Config) vfs.FS {
		t.Helper()
		disk, ended := testbed.Kill(t, rig, cfg, rig.FS, d, testbed.Sigkill)
		if ended {
			t.Fatal("the crawl ended before it was killed")
		}
		return disk
	}
}

// A crawl that is stopped replays as far as it went, except for the last page of each site: its requisites wait for the
// delay of the site. That holds for one site, and for so many that the fetch workers never run out of URLs, also if the
// workbench is full.
func TestRequisites_ofStoredPagesAreStoredWhenACrawlIsStopped(t *testing.T) {
	for _, c := range testbed.Sample([]struct {
		name   string
		hosts  int
		memory int64
		stop   stopped
	}{
		{"one site, at max pages", 1, 1 << 24, afterPages(20)},
		{"one site, killed", 1, 1 << 24, killedAfter(2 * time.Minute)},
		{"many sites, at max pages", 200, 1 << 24, afterPages(2000)},
		{"many sites, killed", 200, 1 << 24, killedAfter(2 * time.Minute)},
		{"many sites with full memory, at max pages", 200, 1 << 14, afterPages(2000)},
		{"many sites with full memory, killed", 200, 1 << 14, killedAfter(2 * time.Minute)},
	}) {
		synctest.Test(t, func(t *testing.T) {
			g := &albums{hosts: c.hosts, images: 3}
			rig := testbed.MustRig(t, simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
			rig.World.Invite(g)
			cfg := engine.Simulation()
			var seeds testbed.Seeds
			for i := range g.hosts {
				seeds = append(seeds, "http://"+hostName(i)+"/p0")
			}
			cfg.Seeds, cfg.Workers.Fetchers = seeds, 2
			cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 2*time.Second, 500*time.Millisecond
			cfg.Workbench.MemoryMax, cfg.Sieve.BucketBytes = c.memory, 1<<24
			pages, replayable := g.stored(t, c.stop(t, rig, cfg))
			t.Logf("%s: %d of %d pages have all requisites", c.name, replayable, pages)
			if pages < 2*g.hosts || replayable < pages-g.hosts {
				t.Errorf("%s: %d of %d pages have all requisites", c.name, replayable, pages)
			}
		})
	}
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
