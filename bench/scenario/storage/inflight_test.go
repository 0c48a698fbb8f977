package storage

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs/faultfs"
)

// While the archive's disk is full and the frontier's is not, Pages wait between their fetch and their record, and
// checkpoints continue. Killed then, and resumed on a disk with room, the crawl must still have every page.
func TestKill_pagesInFlightAtACheckpointAreFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+800, simweb.Plain()), true)
		cfg := rig.Config()
		cfg.Intervals.Checkpoint = time.Second
		script := faultfs.NewScript()
		e, err := engine.Open(cfg, rig.Seams(faultfs.New(rig.FS, script)))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(30 * time.Second)
		script.Add(faultfs.Rule{Op: faultfs.Write, Name: "*.warc.gz*", Err: syscall.ENOSPC})
		testbed.Wait(30 * time.Second)
		if r := e.Report(); r.URLsInFlight == 0 {
			t.Fatal("no page is in flight: the test tests nothing")
		}
		disk := rig.FS.KillClone()
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		e.Abort()
		<-done // whatever it says: it is dead
		_ = e.Close()

		rig.Connect()
		report := rig.MustCrawl(t, cfg, disk)
		testbed.CheckConservation(t, report)
		p := testbed.Promise(cfg)
		p.Resumed = true
		v := rig.MustJudge(t, p, disk)
		v.Repeated, v.Overlap = 0, 0 // pages in flight
		if !v.Sound() {
			v.Print(t.Output())
			t.Errorf("%s: %s %v", report.State, report.Reason, report.Outcomes)
		}
	})
}

// A crawl that is stopped while its archive has no room has pages without an outcome. The last checkpoint has the URL
// of each, although its buffers go back to their pool before. A resume fetches them again.
func TestStop_pagesWithoutRoomAreInTheLastCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+801, simweb.Plain()), true)
		cfg := rig.Config()
		script := faultfs.NewScript()
		e, err := engine.Open(cfg, rig.Seams(faultfs.New(rig.FS, script)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		testbed.Wait(30 * time.Second)
		script.Add(faultfs.Rule{Op: faultfs.Write, Name: "*.warc.gz*", Err: syscall.ENOSPC})
		testbed.Wait(30 * time.Second)
		if r := e.Report(); r.URLsInFlight == 0 {
			t.Fatal("no page is in flight: the test tests nothing")
		}
		stop()
		<-done // whatever it says
		if err := errors.Join(e.Close(), rig.Net.Close()); err != nil {
			t.Error(err)
		}
		rig.Connect()
		report := rig.MustCrawl(t, cfg, rig.FS)
		testbed.CheckConservation(t, report)
		p := testbed.Promise(cfg)
		p.Resumed = true
		v := rig.MustJudge(t, p, rig.FS)
		v.Repeated, v.Overlap = 0, 0 // pages in flight
		if !v.Sound() {
			v.Print(t.Output())
			t.Errorf("%s: %s %v", report.State, report.Reason, report.Outcomes)
		}
	})
}

// A run that dies while it opens a finished crawl has kept the seeds that it was given. The next run, which is given
// none, fetches them.
func TestSeeds_ofARunThatDiedWhileItOpenedAreFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+810, simweb.Plain()), true)
		both := rig.World.Seeds(2)
		rig.Seeds = both[:1]
		cfg := rig.Config()
		cfg.Filters.Scope = "host"
		rig.MustCrawl(t, cfg, rig.FS)
		if n := testbed.CountCaptures(t, rig.FS)[both[1]].All; n != 0 {
			t.Fatalf("%s is in the archive %d times before it is a seed", both[1], n)
		}

		rig.Seeds = both
		cfg = rig.Config()
		cfg.Filters.Scope = "host"
		script := faultfs.NewScript()
		script.Add(faultfs.Rule{Op: faultfs.Write, Name: "*MANIFEST*", Err: syscall.EIO})
		if _, err := rig.Crawl(t.Context(), cfg, faultfs.New(rig.FS, script)); !errors.Is(err, syscall.EIO) {
			t.Fatalf("the disk is broken: %v", err)
		}

		rig.Connect()
		cfg.Seeds = nil
		rig.MustCrawl(t, cfg, rig.FS)
		if n := testbed.CountCaptures(t, rig.FS)[both[1]].All; n != 1 {
			t.Errorf("%s is in the archive %d times", both[1], n)
		}
	})
}
