package crawl

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/urlx"
)

// spelled is a guest: a chain of pages, with links to the next one in four spellings of one archive form.
type spelled struct{}

const spelledPages = 60

// Host implements simweb.Guest.
func (spelled) Host(name string) (address netip.Addr, ok bool) {
	return netip.AddrFrom4([4]byte{198, 51, 100, 12}), name == "spelled.test"
}

// Serve implements simweb.Guest.
func (spelled) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 404, Type: "text/html"}
	var n int
	if _, err := fmt.Sscanf(r.Path, "/d%d/", &n); err == nil && n < spelledPages {
		reply.Status, reply.Body = 200, []byte(words(fmt.Sprint(n)))
		if n+1 < spelledPages {
			for _, rest := range []string{"?b=2&a=1", "index.html?a=1&b=2", "?a=1&PHPSESSID=%[1]d&b=2", "?&b=2&&a=1"} {
				reply.Body = fmt.Appendf(reply.Body, "<a href='/d%[1]d/"+rest+"'>next</a>", n+1)
			}
		}
	}
	return reply.Send(conn)
}

// With --normal-form archive each page is fetched once and in that form, also over kills, and after a rebuild.
func TestNormalForm_isKeptOverKillsAndARebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := oneWorld(t)
		rig.World.Invite(spelled{})
		cfg := engine.Simulation()
		cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://spelled.test/d0/?a=1&b=2"}, "domain"
		cfg.Admission.NormalForm, cfg.Intervals.Checkpoint = urlx.Archive, 20*time.Second
		disk := rig.FS
		for range 4 {
			var ended bool
			if disk, ended = testbed.Kill(t, rig, cfg, disk, 13*time.Second, testbed.Sigkill); ended {
				t.Error("the crawl ended too soon")
			}
		}
		for _, isRebuilt := range []bool{false, true} {
			if isRebuilt {
				testbed.Rebuild(t, rig, cfg, disk)
			}
			if _, err := rig.Crawl(t.Context(), cfg, disk); err != nil {
				t.Fatal(err)
			}
			captures, found := testbed.CountCaptures(t, disk), 0
			for url, n := range captures {
				if strings.HasSuffix(url, "/robots.txt") {
					continue
				}
				if found += n.Pages; n.Pages != 1 || !strings.HasSuffix(url, "/?a=1&b=2") {
					t.Errorf("%s: %+v", url, n)
				}
			}
			if found != spelledPages {
				t.Errorf("rebuilt %v: %d pages, want %d", isRebuilt, found, spelledPages)
			}
			sound := testbed.Fsck(t, disk)
			testbed.WantSound(t, &sound)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
	})
}
