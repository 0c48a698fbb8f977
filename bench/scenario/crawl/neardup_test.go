package crawl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/neardup"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// mirrored is a guest: a site of articles that differ, and a mirror of it with a line of its own in each article. An
// article of the mirror has an image, and leads to a page that nothing else leads to.
type mirrored struct{ articles int }

// Host implements simweb.Guest.
func (g *mirrored) Host(name string) (address netip.Addr, ok bool) {
	for i, host := range []string{"site.test", "mirror.site.test"} {
		if name == host {
			return netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)}), true
		}
	}
	return netip.Addr{}, false
}

// Serve implements simweb.Guest.
func (g *mirrored) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 200, Type: "text/html", Body: []byte(g.body(r.Authority, r.Path))}
	if len(reply.Body) == 0 {
		reply.Status = 404
	}
	return reply.Send(conn)
}

func (g *mirrored) body(host, path string) string {
	var n int
	if path == "/" { // a list of the articles of the site, and then of the mirror
		page := ""
		for i := range 2 * g.articles {
			host := []string{"site.test", "mirror.site.test"}[i/g.articles]
			page += fmt.Sprintf("<a href=http://%s/a%d>x</a>", host, i%g.articles)
		}
		return page
	}
	if _, err := fmt.Sscanf(path, "/a%d", &n); err != nil {
		return map[bool]string{true: "about " + path}[strings.HasPrefix(path, "/only") || strings.HasPrefix(path, "/i")]
	}
	random := rand.New(rand.NewPCG(uint64(n), 7))
	words := make([]string, 400)
	for i := range words {
		words[i] = fmt.Sprintf("w%c%c%c", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
	}
	page := "<title>Article</title><p>" + strings.Join(words, " ")
	if host == "mirror.site.test" {
		page += fmt.Sprintf("<p>Mirrored<img src=/i%d><a href=/only%d></a>", n, n)
	}
	return page
}

// config is the configuration of a crawl of the guest.
func (g *mirrored) config(mode neardup.Mode) engine.Config {
	cfg := engine.Simulation()
	cfg.Seeds, cfg.Seen.Near.Mode = testbed.Seeds{"http://site.test/"}, mode
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = time.Second, time.Second
	return cfg
}

func (g *mirrored) rig(t *testing.T) *testbed.Rig {
	t.Helper()
	rig := testbed.MustRig(t, simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
	rig.World.Invite(g)
	return rig
}

// captured is what the archive says of the captures: the URLs, and the fields of near-duplicates by URL.
type captured struct {
	urls    map[string]bool
	hashes  int // captures with a SimHash, which is in the line of the index, too
	near    map[string]string
	skipped int
}

func (g *mirrored) captured(t *testing.T, disk vfs.FS) captured {
	t.Helper()
	c := captured{urls: map[string]bool{}, near: map[string]string{}}
	var index strings.Builder
	files, err := warc.Files(disk, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range files {
		text, err := vfs.ReadFile(disk, "crawl/warc/"+info.Index())
		if err != nil {
			t.Fatal(err)
		}
		index.Write(text)
	}
	testbed.EachRecord(t, disk, func(rec *warc.RecordRead) {
		if rec.Type != warc.Response && rec.Type != warc.Revisit {
			return
		}
		url := string(rec.TargetURI)
		c.urls[url] = true
		hash := rec.Get(capture.SimHashField)
		if hash != "" && strings.Contains(index.String(), fmt.Sprintf(`"simhash":"%s",`, hash)) {
			c.hashes++
		}
		if isNear, skipped := capture.NearDuplicate(rec); isNear {
			c.near[url] = rec.Get(capture.NearField)
			if skipped {
				c.skipped++
			}
		}
	})
	return c
}

// crawl crawls the guest to the end.
func (g *mirrored) crawl(t *testing.T, mode neardup.Mode) (report.Report, captured) {
	t.Helper()
	rig := g.rig(t)
	r, err := rig.Crawl(t.Context(), g.config(mode), rig.FS)
	if err := errors.Join(err, rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	testbed.CheckConservation(t, r)
	found := testbed.Fsck(t, rig.FS)
	testbed.WantSound(t, &found)
	return r, g.captured(t, rig.FS)
}

// The archive names the article that an article of a mirror nearly repeats. Only skip-links leaves its links out, but
// not its image.
func TestNearDuplicates_ofAMirrorAreMarkedAndMayBeLeftAlone(t *testing.T) {
	g := &mirrored{articles: 20}
	for _, mode := range []neardup.Mode{neardup.Off, neardup.Mark, neardup.SkipLinks} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := g.crawl(t, mode)
				least, most, hashes := g.articles*3/4, g.articles, 2*g.articles // a word more changes over 3 bits of some
				if mode == neardup.Off {
					least, most, hashes = 0, 0, 0
				}
				if n := len(c.near); n < least || n > most || r.NearDuplicates != int64(n) || c.hashes != hashes {
					t.Errorf("%d near-duplicates, %d in the archive; %d fingerprints", r.NearDuplicates, n, c.hashes)
				}
				skipped := 0
				if mode == neardup.SkipLinks {
					skipped = len(c.near)
				}
				if n := r.Dropped["near-duplicate"]; n != int64(skipped) || c.skipped != skipped {
					t.Errorf("%d links dropped, %d captures say so; want %d", n, c.skipped, skipped)
				}
				for i := range g.articles {
					if !c.urls[fmt.Sprintf("http://mirror.site.test/i%d", i)] {
						t.Errorf("image %d was not fetched", i)
					}
					field := c.near[fmt.Sprintf("http://mirror.site.test/a%d", i)]
					if c.urls[fmt.Sprintf("http://mirror.site.test/only%d", i)] == strings.Contains(field, capture.LinksSkipped) {
						t.Errorf("page %d that only the mirror links to: %q", i, field)
					}
				}
				for url, field := range c.near {
					if !strings.HasSuffix(field, " of="+strings.Replace(url, "mirror.", "", 1)) {
						t.Errorf("%s: %s", url, field)
					}
				}
			})
		})
	}
}

// After any number of kills, and after a rebuild, no link is followed of a page whose capture says that its links were
// skipped.
func TestNearDuplicates_skippedLinksStaySkippedAfterKillsAndARebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &mirrored{articles: 60}
		rig, disk := g.rig(t), vfs.NewMem(1)
		cfg := g.config(neardup.SkipLinks)
		cfg.Intervals.Checkpoint = 10 * time.Second
		kills := 0
		for ended := false; !ended; kills++ {
			disk, ended = testbed.Kill(t, rig, cfg, disk, 17*time.Second, testbed.Sigkill)
		}
		g.checkSkipped(t, disk)
		testbed.Rebuild(t, rig, cfg, disk)
		if _, err := rig.Crawl(t.Context(), cfg, disk); err != nil {
			t.Fatal(err)
		}
		g.checkSkipped(t, disk)
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		if kills < 3 {
			t.Errorf("only %d runs", kills)
		}
	})
}

// checkSkipped checks that no link of a page with skipped links was followed.
func (g *mirrored) checkSkipped(t *testing.T, disk vfs.FS) {
	t.Helper()
	c := g.captured(t, disk)
	if c.skipped < g.articles/2 {
		t.Errorf("the links of %d pages only were skipped", c.skipped)
	}
	for url, field := range c.near {
		if !strings.Contains(field, capture.LinksSkipped) {
			t.Errorf("%s: %s", url, field)
		}
		if only := strings.Replace(url, "/a", "/only", 1); c.urls[only] {
			t.Errorf("%s was fetched", only)
		}
	}
}
