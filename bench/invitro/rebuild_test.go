package invitro

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/fsck"
	"orbweaver/internal/vfs"
)

// removeTree removes a directory with all that is in it.
func removeTree(t *testing.T, fsys *vfs.Mem, dir string) {
	t.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = dir + "/" + name
		if _, err := fsys.List(name); err == nil {
			removeTree(t, fsys, name)
		} else if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := fsys.Remove(dir); err != nil {
		t.Fatal(err)
	}
}

// rebuild makes the frontier anew and wants it sound.
func rebuild(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem) *engine.Rebuilt {
	t.Helper()
	r, err := engine.Rebuild(t.Context(), cfg, rig.Seams(fsys), engine.RebuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := examine(t, fsys)
	if !found.Sound() || found.State != "stopped" || !found.Clean {
		found.Print(t.Output())
		t.Fatalf("not sound after a rebuild: %+v", r)
	}
	return r
}

// goOn resumes the crawl to its end and lets the oracle judge it all. again is how many requests may have been repeated.
func goOn(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem, again int) simweb.Verdict {
	t.Helper()
	report, err := rig.Crawl(t.Context(), cfg, fsys)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	p := promise(cfg)
	p.Resumed = true
	v, err := rig.Judge(p, fsys)
	if err != nil {
		t.Fatal(err)
	}
	checkBalance(t, report)
	repeated := v.Repeated
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() || repeated > again || report.State != engine.StateFinished {
		v.Print(t.Output())
		t.Errorf("%d requests repeated, %d at most: %s %s %v", repeated, again, report.State, report.Reason, report.Outcomes)
	}
	r := look(t, fsys)
	wantSound(t, &r)
	return v
}

// The frontier is gone after a kill at any moment: what is in the archive is not fetched again, and all the rest is.
func TestRebuild_aCrawlWithoutItsFrontierEndsWithTheSamePages(t *testing.T) {
	for i := range *seedCount {
		seed := *firstSeed + 800 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(largeSites(seed), true)
				if err != nil {
					t.Fatal(err)
				}
				cfg := fsckConfig(rig)
				cfg.RetryWait = time.Hour
				rng := rand.New(rand.NewPCG(seed, 3))
				disk, ended := kill(t, rig, cfg, rig.FS, 20*time.Second+time.Duration(rng.Int64N(int64(100*time.Second))), sigkill)
				removeTree(t, disk, "crawl/"+engine.FrontierDir)
				if _, err := fsck.Check(t.Context(), disk, "crawl", fsck.Options{}); !errors.Is(err, fsck.ErrNoCrawl) {
					t.Errorf("without a frontier: %v", err)
				}
				r := rebuild(t, rig, cfg, disk)
				t.Logf("ended: %v; %d pages, %d revisits, %d robots.txt; %d URLs done, %d queued; %d files mended",
					ended, r.Pages, r.Copies, r.Robots, r.Done, r.Queued, len(r.Mended))
				goOn(t, rig, cfg, disk, cfg.Fetchers)
			})
		})
	}
}

var _ = context.Background
var _ = strings.Contains
