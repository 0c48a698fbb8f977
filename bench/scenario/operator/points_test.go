package operator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/page/filter"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// pointsWorld is small and without faults; some pages are redirected and some are copies.
func pointsWorld() simweb.Config {
	c := testbed.SmallWorld(*testbed.FirstSeed+900, simweb.Plain())
	c.CopyShare, c.Robots = 0.05, simweb.Robots{AllowAll: 1}
	return c
}

// filteredCrawl crawls from one seed, and gives what is archived, how many requests each host got, and the report.
func filteredCrawl(t *testing.T, change func(*testbed.Rig, *engine.Config)) (stored map[string]bool,
	asked map[string]int, report report.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig, err := testbed.NewRig(pointsWorld(), true)
		if err != nil {
			t.Fatal(err)
		}
		rig.Seeds = rig.World.Seeds(1)
		cfg := rig.Config()
		cfg.Admission.Requisites = admission.RequisitesOff // the tests count links of all kinds alike
		change(rig, &cfg)
		if report, err = rig.Crawl(t.Context(), cfg, rig.FS); err != nil {
			t.Fatal(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		stored = storedURLs(t, rig.FS)
		asked = map[string]int{}
		for a := range rig.Log.All() {
			asked[a.Host]++
		}
	})
	testbed.CheckConservation(t, report)
	checkDoor(t, report)
	return stored, asked, report
}

func storedURLs(t *testing.T, fsys vfs.FS) map[string]bool {
	t.Helper()
	stored := map[string]bool{}
	if err := captures.Each(fsys, "crawl/warc", func(c judge.Capture) { stored[c.URL] = true }); err != nil {
		t.Fatal(err)
	}
	return stored
}

// checkDoor holds the counters of the door against each other: what was found was dropped for a counted reason, or
// admitted.
func checkDoor(t *testing.T, r report.Report) {
	t.Helper()
	found := r.URLsAdmitted
	for reason, n := range r.Dropped {
		if reason != "links-per-page" && reason != "link-bytes-per-page" {
			found += n
		}
	}
	if found != r.URLsFound {
		t.Errorf("E1 at the door: %d found, %d admitted, dropped %v", r.URLsFound, r.URLsAdmitted, r.Dropped)
	}
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// without gives the URLs of a set that are not on a host.
func without(set map[string]bool, host string) map[string]bool {
	rest := maps.Clone(set)
	maps.DeleteFunc(rest, func(u string, _ bool) bool { return hostOf(u) == host })
	return rest
}

func TestPoints_eachDecidesWhatItSays(t *testing.T) {
	all, askedOfAll, whole := filteredCrawl(t, func(*testbed.Rig, *engine.Config) {})
	world := pointsWorld()
	var away string // the last host: nothing hangs on it
	filteredCrawl(t, func(r *testbed.Rig, c *engine.Config) {
		away, c.Admission.MaxDepth = r.World.Host(world.Hosts-1),
			0
	})
	if len(all) < 100 || askedOfAll[away] < 2 || len(without(all, away)) == len(all) {
		t.Fatalf("%d URLs, %d requests to %s: the test tests nothing", len(all), askedOfAll[away], away)
	}
	onAway := fmt.Sprintf("host != %q", away)

	t.Run("schedule", func(t *testing.T) {
		stored, asked, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Scope = onAway })
		if !maps.Equal(stored, without(all, away)) || asked[away] != 0 || r.Dropped["scope"] == 0 ||
			r.Outcomes["filtered"] != 0 {
			t.Errorf("%d stored, %d asked, dropped %v, outcomes %v", len(stored), asked[away], r.Dropped, r.Outcomes)
		}
	})
	t.Run("fetch", func(t *testing.T) {
		stored, asked, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Fetch = onAway })
		if !maps.Equal(stored, without(all, away)) || asked[away] != 0 || r.Dropped["scope"] != 0 ||
			r.Outcomes["filtered"] == 0 {
			t.Errorf("%d stored, %d asked, dropped %v, outcomes %v", len(stored), asked[away], r.Dropped, r.Outcomes)
		}
	})
	t.Run("parse", func(t *testing.T) {
		shallow, _, _ := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Admission.MaxDepth = 1 })
		stored, _, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Parse = "depth == 0" })
		if !maps.Equal(stored, shallow) || r.PagesNotParsed == 0 || len(shallow) == len(all) {
			t.Errorf("%d stored, %d with --max-depth 1, %d not parsed", len(stored), len(shallow), r.PagesNotParsed)
		}
	})
	t.Run("follow", func(t *testing.T) {
		own, _, _ := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Scope = "host" })
		stored, _, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Follow = "same_host" })
		if !maps.Equal(stored, own) || r.Dropped["follow"] == 0 || r.Dropped["scope"] != 0 || len(own) == len(all) {
			t.Errorf("%d stored, %d with --scope host, dropped %v", len(stored), len(own), r.Dropped)
		}
		shallow, _, _ := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Admission.MaxDepth = 1 })
		if stored, _, _ = filteredCrawl(t, func(_ *testbed.Rig,
			c *engine.Config) {
			c.Filters.Follow = "depth <= 1"
		}); !maps.Equal(stored, shallow) {
			t.Errorf("%d stored, %d with --max-depth 1", len(stored), len(shallow))
		}
	})
	t.Run("store", func(t *testing.T) {
		stored, asked, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Store = onAway })
		if !maps.Equal(stored, without(all, away)) || !maps.Equal(asked, askedOfAll) || r.PagesNotStored == 0 ||
			r.URLsFetched != whole.URLsFetched {
			t.Errorf("%d stored, %d not stored, %d fetched of %d", len(stored), r.PagesNotStored, r.URLsFetched,
				whole.URLsFetched)
		}
	})
	t.Run("via", func(t *testing.T) {
		kept := func(c *engine.Config) { c.Archive.Via = true }
		stored, _, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { kept(c); c.Filters.Fetch = `via == ""` })
		if len(stored) != 1 || r.Outcomes["filtered"] == 0 {
			t.Errorf("only what nothing led to is to be fetched: %d stored, outcomes %v", len(stored), r.Outcomes)
		}
		stored, _, r = filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { kept(c); c.Filters.Store = `via == ""` })
		if len(stored) != 1 || r.URLsFetched != whole.URLsFetched {
			t.Errorf("only what nothing led to is to be stored: %d stored, %d fetched", len(stored), r.URLsFetched)
		}
	})
	t.Run("lists", func(t *testing.T) {
		stored, asked, _ := filteredCrawl(t, func(_ *testbed.Rig,
			c *engine.Config) {
			c.Filters.Lists.ExcludeHosts = hostsOf(t, away)
		})
		if !maps.Equal(stored, without(all, away)) || asked[away] != 0 {
			t.Errorf("%d stored, %d asked", len(stored), asked[away])
		}
	})
}

func hostsOf(t *testing.T, hosts ...string) *filter.HostSet {
	t.Helper()
	set := new(filter.HostSet)
	for _, h := range hosts {
		if err := set.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// What cannot be evaluated is counted, and causes no request.
func TestPoints_failuresAreCountedAndCautious(t *testing.T) {
	fails := `split(path, "/")[99] == ""`
	stored, _, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) {
		c.Filters.Follow, c.Filters.Parse, c.Filters.Store = fails, fails, fails
	})
	if len(stored) != 1 || r.FilterErrors["follow"] == 0 || r.FilterErrors["parse"] != 1 || r.FilterErrors["store"] == 0 {
		t.Errorf("%d stored, %v", len(stored), r.FilterErrors)
	}
	_, asked, r := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { c.Filters.Fetch = fails })
	if len(asked) != 0 || r.FilterErrors["fetch"] != 1 || r.Outcomes["filtered"] != 1 {
		t.Errorf("%v, %v, %v", asked, r.FilterErrors, r.Outcomes)
	}
}

// A crawl that is stopped and goes on with a longer list asks no excluded host for what it has queued.
func TestPoints_aListGivenAtAResumeHoldsForWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, pointsWorld(), true)
		cfg := rig.Config()
		ctx := t.Context()
		e, err := engine.Open(cfg, rig.Seams(rig.FS))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		testbed.Wait(20 * time.Second)
		e.Operator().Stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		queued := e.Report().URLsQueued
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		rig.Log = rig.World.NewLog()
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		rig.Connect()
		cfg.Filters.Lists.ExcludeHosts = new(filter.HostSet)
		for i := range rig.World.Hosts() {
			if i > 0 {
				if err := cfg.Filters.Lists.ExcludeHosts.Add(rig.World.Host(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, err := rig.Crawl(ctx, cfg, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		testbed.CheckConservation(t, r)
		for a := range rig.Log.All() {
			if a.Host != rig.World.Host(0) {
				t.Fatalf("asked for %s", a.URL)
			}
		}
		if r.Outcomes["filtered"] == 0 || r.Outcomes["filtered"] > queued || r.URLsQueued != 0 {
			t.Errorf("%d were queued, outcomes %v", queued, r.Outcomes)
		}
	})
}

// A resume after kills finds the links again that the filters let through, and no others.
func TestPoints_killsChangeNothing(t *testing.T) {
	all, _, _ := filteredCrawl(t, func(*testbed.Rig, *engine.Config) {})
	// what depends on the link and the page alone, so that no order of events changes what is reached
	filters := func(c *engine.Config) {
		c.Filters.Follow = `len(url) % 4 != 0 || same_host && kind == "anchor" && depth > 0 || kind == "redirect" && hops < 3`
		c.Filters.Parse = `seed || len(path) % 5 != 0 && status == 200 && not truncated`
	}
	want, _, _ := filteredCrawl(t, func(_ *testbed.Rig, c *engine.Config) { filters(c) })
	if len(want) < len(all)/4 || len(want) == len(all) {
		t.Fatalf("%d of %d URLs pass: the test tests nothing", len(want), len(all))
	}
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, pointsWorld(), true)
		rig.Seeds = rig.World.Seeds(1)
		cfg := rig.Config()
		filters(&cfg)
		rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 3))
		disk := rig.FS
		for range 6 {
			clone, ended := testbed.Kill(t, rig, cfg, disk, 3*time.Second+time.Duration(rng.Int64N(int64(20*time.Second))),
				testbed.Sigkill)
			if disk = clone; ended {
				break
			}
		}
		r := rig.MustCrawl(t, cfg, disk)
		testbed.CheckConservation(t, r)
		if got := storedURLs(t, disk); !maps.Equal(got, want) {
			t.Errorf("%d stored after kills, %d without", len(got), len(want))
		}
	})
}

// A crawl with filters is sound, and so is its rebuild, which goes on to nothing new.
func TestPoints_aRebuildAsksTheSameFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, pointsWorld(), true)
		rig.Seeds = rig.World.Seeds(1)
		cfg := rig.Config()
		away := rig.World.Host(rig.World.Hosts() - 1)
		// not how far from a seed: the archive does not say
		cfg.Filters.Follow, cfg.Filters.Parse = `len(url) % 4 != 0 || kind == "redirect"`, `len(path) % 5 != 0`
		cfg.Filters.Fetch = fmt.Sprintf("host != %q", away)
		r, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		if found := testbed.FsckReadOnly(t, rig.FS); !found.Sound() {
			found.Print(t.Output())
			t.Error("not sound")
		}
		before := storedURLs(t, rig.FS)
		cfg.Seeds = nil
		testbed.Rebuild(t, rig, cfg, rig.FS)
		after := rig.MustCrawl(t, cfg, rig.FS)
		testbed.CheckConservation(t, after)
		if got := storedURLs(t, rig.FS); !maps.Equal(got, before) || after.Outcomes["ok"] != r.Outcomes["ok"] ||
			after.PagesNotParsed != r.PagesNotParsed {
			t.Errorf("%d stored before, %d after; %v and %v; %d and %d not parsed", len(before), len(got), r.Outcomes,
				after.Outcomes,
				r.PagesNotParsed, after.PagesNotParsed)
		}
	})
}
