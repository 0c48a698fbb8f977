//go:build scenario

package storage

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs/faultfs"
)

// spaceOps are the calls that a full disk refuses.
func spaceOps() []faultfs.Op {
	return []faultfs.Op{faultfs.Create, faultfs.Write, faultfs.Allocate, faultfs.Mkdir, faultfs.Rename}
}

// The disk is full from any one write of the crawl on, whichever file it is of. The crawl pauses, says how much it
// needs, and goes on by itself when there is room. No page is lost, none is asked for twice, none is stored twice.
func TestS01_aFullDiskAtAnyWriteOfAnyFilePausesAndLosesNothing(t *testing.T) {
	written := map[string]bool{}
	missed, tried := 0, 0
	for _, s := range stages(*testbed.FirstSeed + 900) {
		for c, n := range census(t, s, spaceOps()...) {
			if c.op == faultfs.Write || c.op == faultfs.Allocate {
				if written[c.file] && s.partial {
					continue
				}
				written[c.file] = true
			} else if s.partial {
				continue
			}
			for _, nth := range moments(c, n) {
				tried++
				name := fmt.Sprintf("%s, op %d of %s, call %d of %d", s.name, c.op,
					strings.ReplaceAll(c.file, "*", "N"), nth, n)
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						if !fullAndBack(t, newAiling(t, s), c, nth) {
							missed++
						}
					})
				})
			}
		}
	}
	if !testbed.Reduced && missed*3 > tried {
		t.Errorf("of %d calls %d were never made", tried, missed)
	}
	for _, want := range []string{
		"*.warc.gz.open", "*.cdxj.tmp", "journal-*", "MANIFEST.tmp", "report.json.tmp", "crawl.log", "bench-*", "aloft-*",
		"entries", "cache.tmp",
		"run-*", "pending-*", "q-*", "idx-*", "seeds.tmp",
	} {
		if !written[want] {
			t.Errorf("no crawl ever writes to %s: the test tests less than it should: %v", want, written)
		}
	}
}

// The same at a write of each of the files that matter most. (Nothing is held in reserve to finish an open record with:
// what was not written whole is written again when there is room, and a stop meanwhile cuts it off.)
func TestHostile_S01_aFullDiskPausesTheCrawlAndLosesNothing(t *testing.T) {
	for _, c := range testbed.Sample([]struct {
		diskCall
		nth int
	}{
		{diskCall{faultfs.Write, "*.warc.gz.open"}, 40}, {diskCall{faultfs.Write, "journal-*"}, 30},
		{diskCall{faultfs.Write, "run-*"}, 2},
		{diskCall{faultfs.Write, "bench-*"}, 2}, {diskCall{faultfs.Write, "MANIFEST.tmp"}, 3},
		{diskCall{faultfs.Create, "*.cdxj.tmp"}, 1},
		{diskCall{faultfs.Allocate, "journal-*"}, 2},
	}) {
		t.Run(strings.ReplaceAll(c.file, "*", "N"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if !fullAndBack(t, newAiling(t, stage{world: fewSites(*testbed.FirstSeed + 905)}), c.diskCall, c.nth) {
					t.Error("the call was never made: the test tests nothing")
				}
			})
		})
	}
}

// fullAndBack runs a crawl whose disk is full for ten minutes; false if the call was never made.
func fullAndBack(t *testing.T, a *ailing, c diskCall, nth int) (hit bool) {
	t.Helper()
	full := a.fill(c, nth)
	if err := a.start(); err != nil {
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(),
			"the disk is full: at least 64 MiB must be free") {
			t.Fatalf("the crawl could not begin, and says: %v", err)
		}
		a.script.Clear()
		if err := a.start(); err != nil {
			t.Fatalf("on a disk with room again: %v", err)
		}
		r, err := a.end()
		if err != nil {
			t.Fatal(err)
		}
		a.over(r, 0)
		return true
	}
	select {
	case <-full:
		hit = true
	case err := <-a.done:
		a.done <- err
	case <-time.After(time.Hour):
		a.cancel() // a crawl that does not make the call by itself may make it when it stops
		<-full
	}
	if hit {
		a.staysPausedOnAFullDisk(t)
		a.script.Clear()
	}
	r, err := a.end()
	if err != nil {
		t.Fatal(err)
	}
	a.over(r, 0)
	if said := a.EngineLog.String(); hit && strings.Count(said, "needs_bytes=67108864") != 1 {
		t.Errorf("the log says:\n%s", said)
	}
	return hit
}

// A signal comes while the disk is full: the crawl stops within the time it has, also while goroutines wait for room,
// and goes on when it is run on a disk that has some.
func TestS01_aCrawlCanBeStoppedWhileTheDiskIsFullAndGoesOnLater(t *testing.T) {
	for _, c := range []diskCall{
		{faultfs.Write, "*.warc.gz.open"}, {faultfs.Write, "journal-*"}, {faultfs.Allocate, "journal-*"},
		{faultfs.Write, "run-*"}, {faultfs.Write, "bench-*"}, {faultfs.Write, "MANIFEST.tmp"},
		{faultfs.Write, "report.json.tmp"},
	} {
		t.Run(strings.ReplaceAll(c.file, "*", "N"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAiling(t, stage{world: aLargeSite(t, *testbed.FirstSeed+910)})
				nth := 2 // the first of most kinds is made before the crawl runs
				if c.file == "report.json.tmp" {
					nth = 1
				} else if c.file == "journal-*" && c.op == faultfs.Write {
					nth = 9
				}
				full := a.fill(c, nth)
				if err := a.start(); err != nil {
					t.Fatal(err)
				}
				<-full
				testbed.Wait(5 * time.Minute)
				a.cancel()
				asked := time.Now()
				r, err := a.end()
				if waited := time.Since(asked); waited > 31*time.Second {
					t.Errorf("it stopped after %v", waited)
				}
				if !errors.Is(err, outage.ErrFullAtStop) || r.State != lifecycle.Stopped {
					t.Errorf("%s: %s: %v", r.State, r.Reason, err)
				}
				a.script.Clear()
				if err := a.start(); err != nil {
					t.Fatal(err)
				}
				r, err = a.end()
				if err != nil {
					t.Fatal(err)
				}
				a.over(r, a.cfg.Workers.Fetchers+a.cfg.Workers.Parsers*5)
			})
		})
	}
}

// A disk on which there is room, and then again none, a thousand times: a quota that others use up, or a clean-up that
// gives little. Nothing hangs, and the log can be read.
func TestHostile_S02_aDiskThatIsFullAThousandTimesIsHardlyWorthALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAiling(t, stage{world: fewSites(*testbed.FirstSeed + 920)})
		if err := a.start(); err != nil {
			t.Fatal(err)
		}
		testbed.Wait(2 * time.Second)
		a.script.Add(faultfs.Rule{Op: faultfs.Space, Err: syscall.EDQUOT}) // and the disk says that it has room
		began := time.Now()
		var r report.Report
		for r = a.e.Report(); r.DiskPauses < 1000; r = a.e.Report() {
			if testbed.Wait(time.Hour); time.Since(began) > 40*time.Hour {
				t.Fatalf("%d pauses in %v", r.DiskPauses, time.Since(began))
			}
		}
		if r.State != lifecycle.Paused && r.State != lifecycle.Running {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
		took := time.Since(began)
		a.script.Clear()
		r, err := a.end()
		if err != nil {
			t.Fatal(err)
		}
		a.over(r, 0)
		lines := strings.Count(a.EngineLog.String(), "\n")
		if per := took / time.Duration(lines); per < 5*time.Minute {
			t.Errorf("%d lines for %d pauses in %v", lines, r.DiskPauses, took)
		}
		t.Logf("%d pauses in %v, %d lines on the log", r.DiskPauses, took, lines)
	})
}

// The disk is full at the very first records, which are those of what name servers said: the crawl pauses as at any
// other write, and in the end the archive has the words about every site.
func TestS01_aFullDiskAtTheWordOfANameServerPausesAndLosesNothing(t *testing.T) {
	for nth := 1; nth <= 3; nth++ {
		synctest.Test(t, func(t *testing.T) {
			rig := testbed.MustRig(t, fewSites(*testbed.FirstSeed+44), false)
			a := &ailing{Rig: rig, t: t, cfg: rig.Config(), script: faultfs.NewScript()}
			busy(&a.cfg)
			testbed.AllMetadata(&a.cfg)
			a.fs = faultfs.New(rig.FS, a.script)
			if !fullAndBack(t, a, diskCall{faultfs.Write, "*.warc.gz.open"}, nth) {
				t.Error("nothing was written")
			}
			pages, names := toldIn(t, rig.FS)
			for url := range pages {
				_, rest, _ := strings.Cut(url, "://")
				if host, _, _ := strings.Cut(rest, "/"); names[host] == "" {
					t.Errorf("%s is stored, though no agent told the address of %s", url, host)
				}
			}
		})
	}
}

// staysPausedOnAFullDisk wants the crawl to be paused after ten minutes, and to request nothing in ten more.
func (a *ailing) staysPausedOnAFullDisk(t *testing.T) {
	t.Helper()
	testbed.Wait(10 * time.Minute)
	r := a.e.Report()
	if r.State != lifecycle.Paused || r.Reason != "disk full" || !strings.Contains(r.Waiting, "64 MiB must be free") ||
		r.DiskPauses != 1 {
		t.Errorf("on a full disk: %s: %s, waiting for %s, %d pauses", r.State, r.Reason, r.Waiting, r.DiskPauses)
	}
	before := a.Log.Len()
	testbed.Wait(10 * time.Minute)
	if n := a.Log.Len() - before; n > 0 {
		t.Errorf("%d requests while the disk was full", n)
	}
}
