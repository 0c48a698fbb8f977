package operator

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	policy "orbweaver/engine/net/politeness"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// A stopped crawl that is opened for one URL says the same of it as one that is opened for all URLs: position in the
// queue, delays, the address and how many sites share it, robots.txt, attempts and captures.
func TestExplain_ofAStoppedCrawlReadsOnlyTheSiteOfTheURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := testbed.StopHalfWay(t, simweb.Config{Seed: 5, Hosts: 40, IPs: 10}, time.Minute,
			func(c *engine.Config) { c.Politeness.IPDelay = 20 * time.Second })
		checkpoint, err := inspect.Open(disk, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		bench, err := checkpoint.Workbench()
		if err != nil {
			t.Fatal(err)
		}
		urls := []string{"http://unknown.test/", "http://unknown.test:8080/"}
		bench.TakeItems(func(site, item []byte) {
			if url, robots, ok := inspect.QueuedURL(nil, site, item); ok && !robots && len(urls) < 200 {
				urls = append(urls, string(url))
			}
		})
		all := open(t, disk, urls...)
		shared, queued := 0, 0
		for _, url := range urls {
			want, err := all.Collect(t.Context(), url, explain.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := open(t, disk, url).Collect(t.Context(), url, explain.Limits{})
			if err != nil || !reflect.DeepEqual(got, want) { //nolint:govet // the errors of both are nil
				t.Fatalf("%s: %+v, %v\nof all sites: %+v", url, got, err, want)
			}
			if got.Result == explain.Queued {
				queued++
			}
			for _, w := range waitsOf(got) {
				if w == hosts.SharedIP {
					shared++
				}
			}
		}
		if queued < 5 || shared == 0 {
			t.Errorf("of %d URLs %d are queued, and %d wait for an address that sites share", len(urls), queued, shared)
		}
		if _, err := open(t, disk, urls[0]).Collect(t.Context(), urls[2], explain.Limits{}); err == nil {
			t.Error("a crawl that was opened for another site answers")
		}
	})
}

func open(t *testing.T, disk vfs.FS, urls ...string) *explain.Stopped {
	t.Helper()
	s, err := explain.OpenStopped(t.Context(), disk, "crawl", urls, explain.Settings{
		Politeness: policy.Default(), HostRules: new(settings.HostRules),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func waitsOf(e *explain.Evidence) (reasons []string) {
	if e.Host == nil {
		return nil
	}
	for _, w := range e.Host.Waits {
		reasons = append(reasons, w.Reason)
	}
	return reasons
}
