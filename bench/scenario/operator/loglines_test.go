package operator

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/report"
	"orbweaver/internal/vfs"
)

// finalLines counts the final lines of crawl.log by outcome, and checks that no URL has two.
func finalLines(t *testing.T, fsys vfs.FS) map[string]int64 {
	t.Helper()
	outcomes, urls := map[string]int64{}, map[string]int{}
	r, err := crawllog.Read(t.Context(), fsys, "crawl/logs", 0, func(l *crawllog.Line) error {
		switch {
		case l.IsFinal():
			outcomes[string(l.Outcome)]++
			urls[string(l.URL)]++
		case l.IsRequeued():
			outcomes[string(l.Outcome)]--
			urls[string(l.URL)]--
		}
		return nil
	})
	if err != nil || r.Damaged > 0 {
		t.Fatalf("%v, %d damaged lines", err, r.Damaged)
	}
	for url, n := range urls {
		if n != 1 {
			t.Errorf("%s has %d final lines", url, n)
		}
	}
	maps.DeleteFunc(outcomes, func(_ string, n int64) bool { return n == 0 })
	return outcomes
}

// wantFinalLines wants one final line for each URL that has its outcome.
func wantFinalLines(t *testing.T, fsys vfs.FS, r *report.Report) {
	t.Helper()
	if lines := finalLines(t, fsys); !maps.Equal(lines, r.Outcomes) {
		t.Errorf("final lines %v\noutcomes %v", lines, r.Outcomes)
	}
}

// Every admitted URL has exactly one final line with its outcome: answered, failed after its tries, of a name that does
// not exist, refused by robots.txt, by a rule, by a quota or by the operator, and given up with its site.
func TestLog_hasOneFinalLineForEachURL(t *testing.T) {
	for name, proxy := range map[string]bool{"direct": false, "proxy": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, _, r := testbed.CrawlDuring(t, proxy, func(c *engine.Config) {
					c.Limits.MaxPerHost = 12
					c.Traps.MaxPathRepeats = 2
				}, func(rig *testbed.Rig, e *engine.Engine) {
					testbed.Wait(5 * time.Second)
					if _, err := e.Operator().HostRule([]string{rig.World.Host(0) + " exclude"}); err != nil {
						t.Error(err)
					}
				})
				wantFinalLines(t, rig.FS, &r)
				for _, o := range []string{"ok", "redirect", "client-error", "robots-denied", "quota-host", "blocked"} {
					if r.Outcomes[o] == 0 {
						t.Errorf("the web is too simple: no URL has the outcome %s: %v", o, r.Outcomes)
					}
				}
			})
		})
	}
}

// The queue of a site that is given up may be as long as a disk holds: its lines are written as fast as the disk takes
// them, and none is lost.
func TestLog_aPurgeOfALongQueueLosesNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testbed.SmallWorld(*testbed.FirstSeed+410, simweb.Plain())
		c.Hosts, c.PagesPerHostMean, c.PagesPerHostMax = 2, 4000, 8000
		c.LinksMean, c.Robots = 60, simweb.Robots{AllowAll: 1}
		rig, _, r := testbed.CrawlWebDuring(t, c, true, testbed.NoChange, func(rig *testbed.Rig, e *engine.Engine) {
			testbed.Wait(20 * time.Minute)
			for i := range 2 {
				if _, err := e.Operator().HostRule([]string{rig.World.Host(i) + " exclude"}); err != nil {
					t.Error(err)
				}
			}
		})
		wantFinalLines(t, rig.FS, &r)
		if r.Outcomes["blocked"] < 1000 || r.LogLinesLost != 0 {
			t.Errorf("%v, %d lines lost", r.Outcomes, r.LogLinesLost)
		}
	})
}
