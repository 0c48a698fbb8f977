package completeness

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

func TestCompleteness_rustdoc(t *testing.T) { judge(t, "rustdoc", 9900) }
func TestCompleteness_doxygen(t *testing.T) { judge(t, "doxygen", 3100) }

// judge crawls a site with the default settings in virtual time: each page that links lead to is asked for once and
// stored, and nothing is left out. The number of pages is at least so many, so that a broken skeleton is not taken for
// a small site.
func judge(t *testing.T, name string, least int) {
	t.Parallel()
	site, err := Read("testdata/" + name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	want := site.Reachable()
	if len(want) < least {
		t.Fatalf("%d pages of %s can be reached, want %d at least", len(want), name, least)
	}
	synctest.Test(t, func(t *testing.T) {
		r := crawl(t, site)
		asked := site.Asked()
		t.Logf(
			"%s: %d of %d pages, in %v of virtual time; %d URLs delayed, %d suspicious parts; outcomes %v, dropped %v",
			name, r.PagesStored+r.RevisitsStored, len(want),
			time.Duration(r.WallSeconds*float64(time.Second)).Round(time.Minute), r.NoveltyDelayed, r.NoveltyPoor,
			r.Outcomes, r.Dropped)
		if r.State != lifecycle.Finished || r.Reason != "complete" {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
		var lost []string
		for path := range want {
			if asked[path] == 0 {
				lost = append(lost, path)
			}
		}
		slices.Sort(lost)
		if len(lost) > 0 {
			t.Errorf("%d of %d pages are lost, such as %q", len(lost), len(want), lost[:min(len(lost), 5)])
		}
		if stored := int(r.PagesStored + r.RevisitsStored); stored != len(want) {
			t.Errorf("%d pages are stored, want %d", stored, len(want))
		}
		if n := r.Outcomes["novelty"] + r.Dropped["novelty"]; n != 0 {
			t.Errorf("%d URLs were left out for novelty", n)
		}
		for _, path := range slices.Sorted(maps.Keys(asked)) {
			if !want[path] && path != "/robots.txt" || asked[path] > 1 {
				t.Errorf("%s was asked for %d times", path, asked[path])
			}
		}
	})
}

// crawl crawls a guest with the default settings; call it inside a bubble. Sizes of memory have no effect on what is
// fetched.
func crawl(t *testing.T, site simweb.Guest) report.Report {
	t.Helper()
	rig, err := testbed.NewRig(simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	rig.World.Invite(site)
	cfg := engine.Simulation()
	cfg.Seeds, cfg.Traps.MaxPathRepeats = testbed.Seeds{"http://" + Host + "/"}, 4
	cfg.Intervals = engine.Intervals{Checkpoint: time.Hour, Report: time.Hour, Sync: time.Minute}
	r, err := rig.Crawl(t.Context(), cfg, rig.FS)
	if err := errors.Join(err, rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	return r
}
