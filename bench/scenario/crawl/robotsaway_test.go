package crawl

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// sitemapsElsewhere is a site whose robots.txt is that of another host, which names sitemaps on a third one.
func sitemapsElsewhere() *testbed.ScriptedHosts {
	const first = testbed.FirstHost
	return &testbed.ScriptedHosts{Counts: map[string]int{}, Hosts: map[string]testbed.Responder{
		first: func(path string, _ int, c net.Conn) {
			if path == "/robots.txt" {
				testbed.Respond(c, 301, "Location: http://cdn.test/robots.txt\r\n", "")
				return
			}
			testbed.Respond(c, 200, "", "<p>page "+path)
		},
		"cdn.test": func(_ string, _ int, c net.Conn) {
			testbed.Respond(c, 200, "", "Sitemap: http://maps.test/1.xml\nSitemap: http://maps.test/2.xml\n")
		},
		"maps.test": func(path string, _ int, c net.Conn) {
			if path == "/robots.txt" {
				testbed.Respond(c, 404, "", "")
				return
			}
			testbed.Respond(c, 200, "", "<urlset><url><loc>http://"+first+"/listed"+path+"</loc></url></urlset>")
		},
	}}
}

// A site may redirect its robots.txt to another host. The sitemaps that it names are those of the site, so they need
// not be in the scope, also if the crawl is killed at any moment.
func TestSitemaps_ofARobotsThatRedirectsElsewhere(t *testing.T) {
	const first = testbed.FirstHost
	for after := time.Duration(0); after <= 16*time.Second; after += 500 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s := sitemapsElsewhere()
			rig, err := testbed.NewRig(testbed.SmallWorld(1, simweb.Plain()), false)
			if err != nil {
				t.Fatal(err)
			}
			cfg := rig.Config()
			cfg.Seeds, cfg.Admission.Sitemaps, cfg.Filters.Scope = testbed.Seeds{"http://" + first + "/"}, true, "host"
			cfg.Intervals.Checkpoint, cfg.Politeness.HostDelay = 3*time.Second, 2*time.Second
			open := func(disk vfs.FS) *engine.Engine {
				seams := rig.Seams(disk)
				seams.Dialer, seams.Resolver = s, s
				seams.Allowed = func(netip.AddrPort) error { return nil }
				e, err := engine.Open(cfg, seams)
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			disk := rig.FS
			if after > 0 {
				e, done := open(disk), make(chan struct{})
				go func() { defer close(done); _ = e.Run(t.Context()) }()
				testbed.Wait(after)
				disk = disk.KillClone()
				e.Abort()
				<-done
				_ = e.Close()
			}
			e := open(disk)
			if err := e.Run(t.Context()); err != nil {
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			s.Done.Wait()
			for _, want := range []string{"/listed/1.xml", "/listed/2.xml"} {
				if !slices.ContainsFunc(s.Pages(first), func(r testbed.Request) bool { return r.Path == want }) {
					t.Errorf("killed after %v: %s was not fetched", after, want)
				}
			}
		})
	}
}
