package operator

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	policy "orbweaver/engine/net/politeness"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
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

// In each order that has queues, a stopped crawl says the class of a URL that has not come to its site, or its domain,
// its place in the queue, and what decides. Of a URL that is not queued it says the class only if the URL decides.
func TestExplain_saysTheClassInEachOrder(t *testing.T) {
	for visit, by := range map[string]string{
		"per-host:2": "its depth, ", "bottom-up": "the folders of its path", "focused": "its score ", "ranked": "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var o order.Options
			disk := testbed.StopHalfWay(t, testbed.SkewedWorld(5), 20*time.Second, func(c *engine.Config) {
				if err := c.Order.Visit.UnmarshalText([]byte(visit)); err != nil {
					t.Fatal(err)
				}
				if o = c.Order; visit == "focused" {
					c.Filters.Score = "depth % 5"
				}
				c.Workers.Fetchers = 2
			})
			classes := map[int]bool{}
			for url, place := range ordered(t, disk) {
				e, err := openOrder(t, disk, o, url).Collect(t.Context(), url, explain.Limits{})
				if err != nil || e.Order.Visit != visit || e.Order.Class != place.Class || e.Order.Position != place.Position ||
					!strings.HasPrefix(e.Order.By, by) || e.Order.IsEarlier {
					t.Errorf("%s is in %+v: %+v, %v", url, place, e, err)
				}
				classes[place.Class] = true
				if visit == "ranked" && (e.Order.Place == nil || e.Order.Queued < int64(place.Position)) {
					t.Errorf("%s is in a queue of its domain: %+v", url, e.Order)
				}
			}
			if len(classes) == 0 {
				t.Errorf("%s: URLs of the classes %v", visit, classes)
			}
			const none = "http://none.test/a/b"
			e, err := openOrder(t, disk, o, none).Collect(t.Context(), none, explain.Limits{})
			if err != nil || e.Order.Class > 0 != (visit == "bottom-up") || e.Order.Position > 0 {
				t.Errorf("%s, not queued: %+v, %v", visit, e, err)
			}
			for url := range ordered(t, disk) { // as after: ctl set visit=breadth-first
				if visit == "ranked" {
					break // another order does not know the queues of domains
				}
				e, err := open(t, disk, url).Collect(t.Context(), url, explain.Limits{})
				if err != nil || e.Order.Visit != "breadth-first" || !e.Order.IsEarlier || e.Order.Class > 0 {
					t.Errorf("%s, in another order: %+v, %v", url, e, err)
				}
				break
			}
		})
	}
}

// ordered returns some URLs in the queues of classes, and their places.
func ordered(t *testing.T, disk vfs.FS) map[string]explain.Order {
	t.Helper()
	checkpoint, err := inspect.Open(disk, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	options := virtualize.Options{Dir: "crawl/" + layout.QueuesDir}
	virt, err := virtualize.Open(vfs.NewOverlay(t.Context(), disk), options, &checkpoint.Virt)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]explain.Order{}
	for class, n := range sites.NewDiskQueues(virt).EachOrdered {
		if len(places) > 20 {
			break
		}
		position := uint64(0)
		_, err := sites.NewDiskQueues(virt).PeekOrdered(class, 0, int(min(n, 7)), func(item []byte) {
			position++
			url := explain.Order{Position: position}
			if class < order.Classes {
				url.Class = class + 1
			}
			places[string(queued.MustDecode(item).Rest)] = url
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := virt.Close(); err != nil {
		t.Error(err)
	}
	return places
}

func open(t *testing.T, disk vfs.FS, urls ...string) *explain.Stopped {
	t.Helper()
	return openOrder(t, disk, order.Options{}, urls...)
}

func openOrder(t *testing.T, disk vfs.FS, o order.Options, urls ...string) *explain.Stopped {
	t.Helper()
	s, err := explain.OpenStopped(t.Context(), disk, "crawl", urls, explain.Settings{
		Politeness: policy.Default(), HostRules: new(settings.HostRules), Order: o,
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
