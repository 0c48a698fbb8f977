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
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs/faultfs"
)

// brokenOps are the calls that a broken disk refuses.
func brokenOps() []faultfs.Op {
	return []faultfs.Op{
		faultfs.Create, faultfs.Open, faultfs.Read, faultfs.Write, faultfs.Truncate, faultfs.Allocate, faultfs.Map,
		faultfs.Rename,
		faultfs.Remove, faultfs.List, faultfs.Close,
	}
}

// One call of the disk fails, whatever it is and whichever file it is of. Either the crawl does not need it and goes
// on, or it ends, says which file it was, and goes on when it is run again. No page is lost or stored twice.
func TestS03_anyOneCallThatFailsIsDoneWithoutOrEndsTheCrawlWithItsName(t *testing.T) {
	went, ended := 0, 0
	seen := map[diskCall]bool{}
	for _, s := range stages(*testbed.FirstSeed + 930) {
		for c, n := range census(t, s, brokenOps()...) {
			if seen[c] {
				continue
			}
			seen[c] = true
			for _, nth := range moments(c, n) {
				name := fmt.Sprintf("%s, op %d of %s, call %d of %d", s.name, c.op,
					strings.ReplaceAll(c.file, "*", "N"), nth, n)
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a := newAiling(t, s)
						a.script.Add(
							faultfs.Rule{Op: c.op, Name: c.file, From: nth, Count: 1, Err: syscall.EIO, Short: 5},
						)
						if failsOnce(t, a, c) {
							ended++
						} else {
							went++
						}
					})
				})
			}
		}
	}
	t.Logf("%d crawls ended, %d went on", ended, went)
	if !testbed.Reduced && (ended == 0 || went == 0) {
		t.Error("they are all alike: the test tests nothing")
	}
}

// The same at reads, writes and syncs of the files that matter most. After a failed sync nothing goes on with other
// files: what the system forgot is not known, and the journal that says what is done is one file. So the crawl ends,
// says which file it was, and goes on when it is run again.
func TestHostile_S03_aReadAWriteOrASyncThatFailsLosesNothing(t *testing.T) {
	small := stage{world: fewSites(*testbed.FirstSeed + 935)}
	for _, c := range []struct {
		diskCall
		nth int
	}{
		{diskCall{faultfs.Write, "*.warc.gz.open"}, 40}, {diskCall{faultfs.Write, "journal-*"}, 30},
		{diskCall{faultfs.Read, "run-*"}, 2},
		{diskCall{faultfs.Write, "report.json.tmp"}, 1},
	} {
		t.Run(fmt.Sprintf("op %d of %s", c.op, strings.ReplaceAll(c.file, "*", "N")), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAiling(t, small)
				hit := false
				a.script.Add(faultfs.Rule{Op: c.op, Name: c.file, From: c.nth, Count: 1, Err: syscall.EIO, Short: 5,
					Then: func(string) { hit = true }})
				// A report that cannot be written ends no crawl. In a short crawl the first one is the last, whose error is told.
				if ended := failsOnce(t, a, c.diskCall); !hit || !ended && c.file != "report.json.tmp" {
					t.Errorf("met %v, ended %v", hit, ended)
				}
			})
		})
	}
	for _, c := range []diskCall{{faultfs.Sync, "*.warc.gz.open"}, {faultfs.Sync, "journal-*"}, {faultfs.SyncDir, "*"}} {
		t.Run(fmt.Sprintf("op %d of %s", c.op, strings.ReplaceAll(c.file, "*", "N")), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { forgetful(t, newAiling(t, small), c, 5, syscall.EIO) })
		})
	}
}

// failsOnce runs a crawl that may end over a fault, and runs it again then.
func failsOnce(t *testing.T, a *ailing, c diskCall) (ended bool) {
	t.Helper()
	err := a.start()
	if err == nil {
		var r report.Report
		if r, err = a.end(); err == nil {
			a.over(r, 0)
			return false
		}
		// What fails when all is saved does not make a crawl fail: a file that does not close, the last report.
		if r.State != lifecycle.Failed && c.op != faultfs.Close && c.file != "report.json.tmp" {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
	}
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), strings.Trim(c.file, "*-")) {
		t.Errorf("the error does not say what it was: %v", err)
	}
	if err := a.start(); err != nil {
		t.Fatalf("run again: %v", err)
	}
	r, err := a.end()
	if err != nil {
		t.Fatalf("run again: %v", err)
	}
	a.over(r, a.cfg.Workers.Fetchers+a.cfg.Workers.Parsers*5)
	return true
}

// A sync fails, and the system forgets what it had not written, shows it all the same, and calls the next sync a
// success. The crawl ends at once; run again, it does not believe in what was not synced. After a power cut at the end
// every page is there.
func TestS03_aFailedSyncIsNeverTriedAgainOnTheSamePages(t *testing.T) {
	world := fewSites(*testbed.FirstSeed + 940)
	kinds := census(t, stage{world: world}, faultfs.Sync, faultfs.MapSync, faultfs.SyncDir)
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		for c, n := range kinds {
			for _, nth := range moments(c, n) {
				t.Run(
					fmt.Sprintf("%v, op %d of %s, call %d of %d", errno, c.op, strings.ReplaceAll(c.file, "*", "N"),
						nth, n),
					func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							forgetful(t, newAiling(t, stage{world: world}), c, nth, errno)
						})
					},
				)
			}
		}
	}
}

func forgetful(t *testing.T, a *ailing, c diskCall, nth int, errno syscall.Errno) {
	t.Helper()
	a.script.Add(faultfs.Rule{Op: c.op, Name: c.file, From: nth, Count: 1, Err: errno, Then: a.FS.Forget})
	err := a.start()
	if err == nil {
		_, err = a.end()
	}
	again := 0
	if err != nil {
		again = a.Log.Len()
		if !errors.Is(err, errno) {
			t.Fatal(err)
		}
		if err := a.start(); err != nil {
			t.Fatalf("run again: %v", err)
		}
		if _, err := a.end(); err != nil {
			t.Fatalf("run again: %v", err)
		}
		again = min(again, a.cfg.Workers.Fetchers+a.cfg.Workers.Parsers*5+20) // and what one group commit held
	}
	a.FS = a.FS.CrashClone(nil)
	a.fs = a.FS
	a.Connect()
	if err := a.start(); err != nil { // it is over, and says so
		t.Fatal(err)
	}
	r, err := a.end()
	if err != nil {
		t.Fatal(err)
	}
	a.over(r, again)
}

// The disk becomes read-only, the directory is deleted, the right to write is lost: one clear line, and no more
// requests.
func TestHostile_S04_aDirectoryThatIsTakenAwayEndsTheCrawlWithOneLine(t *testing.T) {
	writes := []faultfs.Op{faultfs.Space, faultfs.Truncate, faultfs.Remove}
	for name, fault := range testbed.SampleMap(map[string]struct {
		ops   []faultfs.Op
		errno error
	}{
		"read-only remount": {writes, syscall.EROFS},
		"permission lost":   {writes, syscall.EACCES},
		"directory deleted": {[]faultfs.Op{faultfs.Create, faultfs.Open, faultfs.Rename, faultfs.Remove, faultfs.List,
			faultfs.SyncDir}, syscall.ENOENT},
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAiling(t, stage{world: fewSites(*testbed.FirstSeed + 950)})
				if err := a.start(); err != nil {
					t.Fatal(err)
				}
				testbed.Wait(time.Second)
				for _, op := range fault.ops {
					a.script.Add(faultfs.Rule{Op: op, Err: fault.errno})
				}
				began := time.Now()
				r, err := a.end()
				if !errors.Is(err, fault.errno) || r.State != lifecycle.Failed {
					t.Errorf("%s: %s: %v", r.State, r.Reason, err)
				}
				if strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "crawl/") {
					t.Errorf("it is not one line that names a place: %v", err)
				}
				if took := time.Since(began); took > 31*time.Second {
					t.Errorf("it ended after %v", took)
				}
				a.script.Clear()
				if err := a.start(); err != nil {
					t.Fatalf("when all is back: %v", err)
				}
				if r, err = a.end(); err != nil {
					t.Fatalf("when all is back: %v", err)
				}
				a.over(r, a.cfg.Workers.Fetchers+a.cfg.Workers.Parsers*5)
			})
		})
	}
}
