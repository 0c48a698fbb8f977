package operator

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// finalLines counts the final lines of crawl.log by outcome, and checks that no URL has two.
func finalLines(t *testing.T, fsys vfs.FS) map[string]int64 {
	t.Helper()
	outcomes, urls := map[string]int64{}, map[string]int{}
	r, err := crawllog.Read(t.Context(), fsys, "crawl/logs", crawllog.Position{}, func(l *crawllog.Line) error {
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
					c.Limits.MaxPerHost = 8
					c.Traps.MaxPathRepeats = 2
				}, func(rig *testbed.Rig, e *engine.Engine) {
					testbed.Wait(5 * time.Second)
					var rules []string
					for i := 0; i < rig.World.Hosts(); i += 3 { // one of them has more to fetch
						if host := rig.World.Host(i); !strings.Contains(rig.Seeds[0], host) {
							rules = append(rules, host+" exclude")
						}
					}
					if _, err := e.Operator().HostRule(rules); err != nil {
						t.Error(err)
					}
				})
				wantFinalLines(t, rig.FS, &r)
				for _, o := range []string{"ok", "client-error", "robots-denied", "quota-host", "blocked"} {
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
		if r.Outcomes["blocked"] < 500 || r.LogLinesLost != 0 {
			t.Errorf("%v, %d lines lost", r.Outcomes, r.LogLinesLost)
		}
	})
}

// reportRows are the rows of a report of the crawl, by their first columns.
func reportRows(t *testing.T, fsys vfs.FS, k logreport.Kind) map[string][]string {
	t.Helper()
	r, err := logreport.Make(t.Context(), fsys, "crawl", []logreport.Kind{k}, logreport.Options{Temp: vfs.NewMem(1)})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	err = r.Each(t.Context(), k, func(row []string) error {
		rows[row[0]] = slices.Clone(row)
		return nil
	})
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return rows
}

// The reports equal the archive and the counters: pages of each host, URLs of each media type and depth, responses of
// each status, and the seeds.
func TestReports_equalTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+400, simweb.Faulty())
		world.Faults.Failures = simweb.Failures{NotFound: 0.1, Error: 0.05}
		world.Robots = simweb.Robots{AllowAll: 1} // the target of a redirected robots.txt looks like a page
		rig, _, r := testbed.CrawlWebDuring(t, world, false, testbed.NoChange, func(*testbed.Rig, *engine.Engine) {})
		pages, seen := map[string]int{}, map[string]bool{}
		err := captures.Each(rig.FS, "crawl/warc", func(c judge.Capture) {
			if c.Status == 200 && !seen[c.URL] { // an attempt that is repeated may have a record, too
				seen[c.URL] = true
				pages[string(urlx.Host([]byte(c.URL)))]++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for host, row := range reportRows(t, rig.FS, logreport.Hosts) {
			if n := pages[host]; row[2] != strconv.Itoa(n) {
				t.Errorf("host %s: %s pages, %d in the archive", host, row[2], n)
			}
			delete(pages, host)
		}
		if len(pages) > 0 {
			t.Errorf("hosts that are not in the report: %v", pages)
		}
		statuses := map[string]int64{}
		for status, row := range reportRows(t, rig.FS, logreport.Status) {
			if n, _ := strconv.ParseInt(row[2], 10, 64); n > 0 {
				statuses[status] = n
			}
		}
		if !maps.Equal(statuses, r.Statuses) {
			t.Errorf("responses by status %v, counted %v", statuses, r.Statuses)
		}
		types, depths := map[string]int64{}, map[string]int64{}
		for name, row := range reportRows(t, rig.FS, logreport.Types) {
			n, _ := strconv.ParseInt(row[1], 10, 64)
			types[counters.MediaTypeOf([]byte(name)).String()] += n
		}
		for depth, row := range reportRows(t, rig.FS, logreport.Depth) {
			if n, _ := strconv.ParseInt(row[2], 10, 64); n > 0 {
				depths[depth] = n
			}
		}
		if !maps.Equal(types, r.MediaTypes) || !maps.Equal(depths, r.Depths) {
			t.Errorf("by type %v, counted %v; pages by depth %v, counted %v", types, r.MediaTypes, depths, r.Depths)
		}
		sum := func(k logreport.Kind) (urls int64) {
			for _, row := range reportRows(t, rig.FS, k) {
				n, _ := strconv.ParseInt(row[k.FirstNumber()], 10, 64)
				urls += n
			}
			return urls
		}
		if n := sum(logreport.Depth); n != r.URLsAdmitted {
			t.Errorf("%d URLs by depth, %d admitted", n, r.URLsAdmitted)
		}
		if n := sum(logreport.Types); n != int64(len(seen))+r.Outcomes["client-error"]+r.Outcomes["server-error"]+
			r.Outcomes["redirect"] {
			t.Errorf("%d URLs by media type, %d pages, %v", n, len(seen), r.Outcomes)
		}
		for url, row := range reportRows(t, rig.FS, logreport.Seeds) {
			if !slices.Contains(rig.Seeds, url) || row[1] != "ok" {
				t.Errorf("seed %v", row)
			}
		}
	})
}

// A second pass has lines of its own: its report counts these alone.
func TestReports_countFromThePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+430, simweb.Plain()), true)
		cfg := rig.Config()
		first := rig.MustCrawl(t, cfg, rig.FS)
		rig.Connect()
		cfg.Refresh = true
		second := rig.MustCrawl(t, cfg, rig.FS)
		log := testbed.Inspect(t, rig.FS).Log
		if log == nil || second.Pass != 2 {
			t.Fatalf("pass %d, log %v", second.Pass, log)
		}
		all := linesFrom(t, rig.FS, crawllog.Position{})
		own := linesFrom(t, rig.FS, log.Begin)
		if own != second.URLsAdmitted || all != first.URLsAdmitted+second.URLsAdmitted {
			t.Errorf("%d final lines, %d of the second pass; admitted %d and %d", all, own, first.URLsAdmitted,
				second.URLsAdmitted)
		}
	})
}

// linesFrom counts the final lines from a position on.
func linesFrom(t *testing.T, fsys vfs.FS, from crawllog.Position) (n int64) {
	t.Helper()
	_, err := crawllog.Read(t.Context(), fsys, "crawl/logs", from, func(l *crawllog.Line) error {
		if l.IsFinal() {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
