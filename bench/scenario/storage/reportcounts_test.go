package storage

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/simweb"
)

// After a rebuild the report has the depths of all pages, if each has a metadata record. They are those of before.
func TestRebuild_depthsComeFromMetadataRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+880, simweb.Plain()), true)
		cfg := testbed.FsckConfig(rig)
		cfg.Archive.Metadata, cfg.Limits.StallWait = parsers.MetadataAll, time.Hour
		before := rig.MustCrawl(t, cfg, rig.FS)
		if before.State != lifecycle.Finished || len(before.Depths) < 3 {
			t.Fatalf("%s: %s, depths %v: the test tests nothing", before.State, before.Reason, before.Depths)
		}
		testbed.RemoveTree(t, rig.FS, "crawl/"+layout.FrontierDir)
		testbed.Rebuild(t, rig, cfg, rig.FS)
		rig.Connect()
		e, err := engine.Open(cfg, rig.Seams(rig.FS))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if after := e.Report(); !maps.Equal(after.Depths, before.Depths) {
			t.Errorf("depths %v, before the rebuild %v", after.Depths, before.Depths)
		}
	})
}

// After kills on a web of faults, no attempt without an answer is among the statuses of the report.
func TestKill_anAttemptWithoutAnAnswerHasNoStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+890, simweb.Faulty()), false)
		cfg := testbed.FsckConfig(rig)
		disk := rig.FS
		cfg.Intervals.Checkpoint = time.Hour // so that the journal has all
		for range 2 {
			disk, _ = testbed.Kill(t, rig, cfg, disk, 2*time.Minute, testbed.Sigkill)
			e, err := engine.Open(cfg, rig.Seams(disk))
			if err != nil {
				t.Fatal(err)
			}
			r := e.Report()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if r.Statuses["0"] > 0 || r.Statuses["200"] == 0 || r.Attempts == 0 {
				t.Errorf("statuses %v", r.Statuses)
			}
		}
	})
}
