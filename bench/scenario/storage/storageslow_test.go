//go:build scenario

package storage

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs/faultfs"
)

// Every sync takes five seconds. Pages are fetched meanwhile, the report and the log say what it is, and nothing
// breaks.
func TestHostile_S16_aDiskThatSyncsInFiveSecondsIsNamedAndHardlySlowsTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := fewSites(*testbed.FirstSeed + 990)
		crawl := func(delay time.Duration) (time.Duration, *ailing) {
			a := newAiling(t, stage{world: world})
			a.cfg.Archive.SizeMax, a.cfg.Intervals.Checkpoint = 1<<30, 30*time.Second
			for _, op := range []faultfs.Op{faultfs.Sync, faultfs.MapSync, faultfs.SyncDir} {
				if delay > 0 {
					a.script.Add(faultfs.Rule{Op: op, Delay: delay})
				}
			}
			began := time.Now()
			if err := a.start(); err != nil {
				t.Fatal(err)
			}
			opened := time.Since(began)
			if delay > 0 {
				before := a.Log.Len()
				testbed.Wait(8 * time.Second)
				if n := a.Log.Len() - before; n < 50 {
					t.Errorf("%d requests in eight seconds", n)
				}
				if r := a.e.Report(); !strings.Contains(r.Waiting, "the disk is slow: a sync takes ") ||
					r.SyncSeconds < 1 {
					t.Errorf("it waits for %s; a sync takes %v s", r.Waiting, r.SyncSeconds)
				}
			}
			r, err := a.end()
			if err != nil {
				t.Fatal(err)
			}
			a.over(r, 0)
			return time.Since(began) - opened, a
		}
		fast, _ := crawl(0)
		slow, a := crawl(5 * time.Second)
		if slow > 2*fast+6*time.Minute { // at the end every file is synced, one after the other
			t.Errorf("%v with a slow disk, %v without", slow, fast)
		}
		if n := strings.Count(a.EngineLog.String(), "the disk is slow"); n == 0 || n > 3 {
			t.Errorf("it was said %d times", n)
		}
		t.Logf("%v with a slow disk, %v without", slow, fast)
	})
}

// A sync that does not end, as on a network file system whose server is gone: the report and the log say so while it
// lasts, the crawl holds back instead of growing, a stop waits for the disk, and when the server is back nothing is
// lost.
func TestHostile_S16_aSyncThatDoesNotEndIsNamedAndWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAiling(t, stage{world: fewSites(*testbed.FirstSeed + 991)})
		a.cfg.Intervals.Checkpoint = 10 * time.Second
		if err := a.start(); err != nil {
			t.Fatal(err)
		}
		testbed.Wait(2 * time.Second)
		const gone = 20 * time.Minute
		for _, op := range []faultfs.Op{faultfs.Sync, faultfs.MapSync, faultfs.SyncDir} {
			a.script.Add(faultfs.Rule{Op: op, Count: 1, Delay: gone})
		}
		testbed.Wait(5 * time.Minute)
		r := a.e.Report()
		if !strings.Contains(r.Waiting, "the disk is slow: a sync takes ") || r.SyncSeconds < 200 {
			t.Errorf("it waits for %s; a sync takes %v s", r.Waiting, r.SyncSeconds)
		}
		testbed.Wait(gone)
		a.script.Clear()
		r, err := a.end()
		if err != nil {
			t.Fatal(err)
		}
		a.over(r, 0)
		if n := strings.Count(a.EngineLog.String(), "the disk does not answer"); n == 0 || n > 4 {
			t.Errorf("it was said %d times", n)
		}
	})
}

// The crawl log cannot be written, for a while or permanently, or each write takes ten seconds: the crawl does not
// mind, says so once, and counts the lines that were lost.
func TestHostile_S17_aCrawlLogThatCannotBeWrittenNeitherEndsNorSlowsTheCrawl(t *testing.T) {
	for name, fault := range testbed.SampleMap(map[string]struct {
		rule  faultfs.Rule
		heals bool
	}{
		"full permanently":   {faultfs.Rule{Op: faultfs.Write, Err: syscall.ENOSPC, Short: 7}, false},
		"broken permanently": {faultfs.Rule{Op: faultfs.Write, Err: syscall.EIO}, false},
		"full for a while":   {faultfs.Rule{Op: faultfs.Write, Err: syscall.ENOSPC, Short: 7}, true},
		"slow for a while":   {faultfs.Rule{Op: faultfs.Write, Delay: 10 * time.Second}, true},
		"cannot be rotated":  {faultfs.Rule{Op: faultfs.Truncate, Err: syscall.EIO}, true},
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAiling(t, stage{world: manySites(*testbed.FirstSeed + 995), partial: true})
				fault.rule.Name = "crawl.log"
				if err := a.start(); err != nil {
					t.Fatal(err)
				}
				testbed.Wait(3 * time.Second)
				a.script.Add(fault.rule)
				before := a.Log.Len()
				testbed.Wait(6 * time.Second)
				if n := a.Log.Len() - before; n < 100 {
					t.Errorf("%d requests in six seconds", n)
				}
				if r := a.e.Report(); r.State != lifecycle.Running {
					t.Errorf("%s: %s", r.State, r.Reason)
				}
				if fault.heals {
					a.script.Clear()
				}
				r, err := a.end()
				if err != nil {
					t.Fatal(err)
				}
				a.over(r, 0)
				said := strings.Count(a.EngineLog.String(), "cannot write the crawl log")
				if want := fault.rule.Err != nil && fault.rule.Op == faultfs.Write; (said == 1) != want || said > 1 {
					t.Errorf("it was said %d times", said)
				}
				if fault.heals {
					lines(t, a, r)
				}
			})
		})
	}
}

// lines wants one whole line in the crawl log for each attempt.
func lines(t *testing.T, a *ailing, r report.Report) {
	t.Helper()
	text := testbed.FileContents(t, a.FS)["crawl/logs/crawl.log"]
	n := 0
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) != 12 || !strings.HasSuffix(line, "\n") {
			t.Fatalf("a line of the log: %q", line)
		}
		n++
	}
	if want := int(r.Attempts + r.RobotsFetched); n != want || r.LogLinesLost != 0 {
		t.Errorf("%d lines for %d attempts, %d lost", n, want, r.LogLinesLost)
	}
}
