//go:build scenario

package crawl

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
)

// A crawl of pages with many images ends at --max-pages, with all images of every page that it has stored, also if the
// workbench is full. It fetches beyond the limit what these pages need, and nothing else.
func TestRequisites_manyImagesBeyondTheLimitOfPages(t *testing.T) {
	const hosts, limit = 200, 2000
	for _, images := range []int{3, 30, 100} {
		for _, memory := range []int64{1 << 24, 1 << 14} {
			t.Run(fmt.Sprintf("%d images, %d KiB", images, memory>>10), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := &albums{hosts: hosts, images: images}
					rig := testbed.MustRig(t, simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
					rig.World.Invite(g)
					cfg := engine.Simulation()
					var seeds testbed.Seeds
					for i := range hosts {
						seeds = append(seeds, "http://"+hostName(i)+"/p0")
					}
					cfg.Seeds, cfg.Workers.Fetchers, cfg.Limits.MaxPages = seeds, 20, limit
					cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 2*time.Second, 500*time.Millisecond
					cfg.Workbench.MemoryMax, cfg.Sieve.BucketBytes = memory, 1<<24
					began := time.Now()
					r, err := rig.Crawl(t.Context(), cfg, rig.FS)
					if err := errors.Join(err, rig.Net.Close()); err != nil {
						t.Fatal(err)
					}
					pages, whole := g.stored(t, rig.FS)
					stored := r.PagesStored + r.RevisitsStored
					t.Logf("%s after %v: %d stored, %d beyond the limit; %d of %d pages have all %d requisites; %d URLs queued",
						r.Reason, time.Since(began).Round(time.Second), stored, stored-limit, whole, pages, images+1,
						r.URLsQueued)
					if r.Reason != "max-pages reached" || whole < pages || stored-limit > int64(pages*(images+1)) {
						t.Errorf("%s: %d of %d pages have all requisites, %d beyond the limit", r.Reason, whole, pages,
							stored-limit)
					}
				})
			})
		}
	}
}
