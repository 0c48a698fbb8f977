package operator

import (
	"slices"
	"strings"
	"testing"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/options"
	"orbweaver/internal/simweb"
)

// restrains are the settings whose largest value is not the same as no limit: it slows the crawl down, or takes memory
// or workers at the start. Other tests hold those.
func restrains() []string {
	return []string{"agents", "checkpoint", "crawl-delay-max", "fetchers", "host-delay", "ip-delay", "tries"}
}

// The largest value of each limit that its option accepts is as good as no limit: nothing of a small web is left out.
func TestLimit_theLargestValueLeavesNothingOut(t *testing.T) {
	world := testbed.SmallWorld(*testbed.FirstSeed+460, simweb.Plain())
	want := testbed.CrawlAndJudge(t, world, true, testbed.NoChange).PagesStored
	var all engine.Config
	for _, s := range options.All(&all) {
		isMemory := strings.HasSuffix(s.Name, "-memory") // of what is made at the start
		if s.Tag.Get("help") == "" || !s.Value.CanInt() || isMemory || slices.Contains(restrains(), s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			report := testbed.CrawlAndJudge(t, world, true, func(c *engine.Config) {
				setting, _ := options.Find(c, s.Name)
				if err := setting.Set(s.Largest()); err != nil {
					t.Fatal(err)
				}
				if setting.Text() == "" {
					t.Errorf("%s has no text", s.Largest())
				}
			})
			if report.PagesStored != want || report.State != lifecycle.Finished {
				t.Errorf("--%s %s: %d pages, want %d; %s: %s", s.Name, s.Largest(), report.PagesStored, want, report.State,
					report.Reason)
			}
		})
	}
}
