//go:build scenario

package storage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// coldConfig is a crawl whose bench has room for a quarter of the hosts, and whose files are small enough to be
// collected.
func coldConfig(rig *testbed.Rig) engine.Config {
	c := rig.Config()
	c.Workbench.MemoryMax, c.Limits.StallWait, c.Workers.Fetchers = 16<<10, time.Hour, 2
	c.Intervals.Checkpoint = time.Second
	c.Politeness.HostDelay, c.Politeness.IPDelay = 40*time.Millisecond, 5*time.Millisecond
	c.Cold.SegmentBytes, c.Cold.BufferBytes = 4<<10, 1<<10
	return c
}

// A wrong byte among the cold hosts is found by fsck, in its file, and by the crawl that would go on; a rebuild does
// without them.
func TestColdHosts_damageIsFoundAndRebuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.ManyHosts(*testbed.FirstSeed+930, simweb.Plain()), true)
		cfg := coldConfig(rig)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		report, err := rig.Crawl(ctx, cfg, rig.FS)
		if err != nil || report.HostsCold == 0 || report.URLsQueued == 0 {
			t.Fatalf("%d cold hosts, %d URLs queued, %v", report.HostsCold, report.URLsQueued, err)
		}
		const dir = "crawl/" + layout.ColdDir
		files, err := rig.FS.List(dir)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		name := dir + "/" + files[len(files)-1]
		content, err := vfs.ReadFile(rig.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		writeFile(t, rig.FS, name, content)
		r := testbed.Fsck(t, rig.FS)
		found := func(f fsck.Finding) bool { return f.Area == "cold" && f.File == strings.TrimPrefix(name, "crawl/") }
		if r.Sound() || !slices.ContainsFunc(r.Findings, found) {
			t.Errorf("findings: %+v", r.Findings)
		}
		if _, err := engine.Open(cfg, rig.Seams(rig.FS)); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("the crawl goes on: %v", err)
		}
		if _, err := engine.Rebuild(t.Context(), cfg, rig.Seams(rig.FS), rebuild.Options{}); err != nil {
			t.Fatal(err)
		}
		if report, err = rig.Crawl(t.Context(), cfg, rig.FS); err != nil || report.State != lifecycle.Finished {
			t.Fatal(report.State, report.Reason, err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		p := testbed.Promise(cfg)
		p.Resumed = true
		testbed.JudgeSound(t, rig, cfg, p)
		r = testbed.Fsck(t, rig.FS)
		testbed.WantSound(t, &r)
	})
}
