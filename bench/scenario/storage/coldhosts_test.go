//go:build scenario

package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// A crawl whose hosts do not fit into memory is the same crawl: all is fetched, once, politely, as robots.txt says.
func TestColdHosts_comeBackWithAllThatWasKnownOfThem(t *testing.T) {
	for name, c := range map[string]simweb.Config{"plain": simweb.Plain(), "faulty": simweb.Faulty()} {
		for _, proxy := range []bool{true, false} {
			if testbed.Reduced && (name == "plain" || !proxy) {
				continue // they take minutes then, and tell nothing that the other does not
			}
			t.Run(fmt.Sprintf("%s, proxy %v", name, proxy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crawlColdHosts(t, c, proxy) })
			})
		}
	}
}

func crawlColdHosts(t *testing.T, c simweb.Config, proxy bool) {
	rig := testbed.MustRig(t, testbed.ManyHosts(*testbed.FirstSeed+900, c), proxy)
	cfg := coldConfig(rig)
	report := rig.MustCrawl(t, cfg, rig.FS)
	testbed.CheckConservation(t, report)
	testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
	checks := testbed.FsckReadOnly(t, rig.FS)
	testbed.WantSound(t, &checks)
	t.Logf("%d hosts, %d of them cold; %d moved to disk and %d back; %d robots.txt, %d pages", report.HostsKnown,
		report.HostsCold,
		report.HostsEvicted, report.HostsRestored, report.RobotsFetched, report.PagesStored)
	if report.HostsCold < report.HostsKnown/2 || report.HostsRestored == 0 {
		t.Error("the hosts all fitted into memory, or none was met again")
	}
}

// Whenever the crawl is killed, each host is on the bench or in the store, and the crawl that goes on knows what this
// one knew.
func TestColdHosts_surviveKillsAndPowerCuts(t *testing.T) {
	for i := range (*testbed.SeedCount + 1) / 2 {
		seed := *testbed.FirstSeed + 910 + uint64(i)
		world := testbed.ManyHosts(seed, simweb.Faulty())
		// A Crawl-delay or Retry-After that was on its way when the end came is not known after it, and the general
		// delay is short here.
		world.Robots.CrawlDelay, world.Robots.Unavailable, world.Faults.Unavailable, world.Faults.OnceUnavail = 0, 0, 0, 0
		rng := rand.New(rand.NewPCG(seed, 6))
		for name, death := range map[string]testbed.Death{
			"kill": testbed.Sigkill, "power": func(d *vfs.Mem) *vfs.Mem { return d.CrashClone(rng) },
		} {
			if testbed.Reduced && (name == "power" || i > 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { killColdHosts(t, world, death) })
			})
		}
	}
}

func killColdHosts(t *testing.T, world simweb.Config, death testbed.Death) {
	rng := rand.New(rand.NewPCG(world.Seed, 5))
	rig := testbed.MustRig(t, world, true)
	cfg := coldConfig(rig)
	disk, kills, cold := rig.FS, 0, int64(0)
	for ; kills < testbed.Reduce(6, 2); kills++ {
		clone, ended := testbed.Kill(
			t,
			rig,
			cfg,
			disk,
			2*time.Second+time.Duration(rng.Int64N(int64(4*time.Second))),
			death,
		)
		disk = clone
		r := testbed.FsckReadOnly(t, disk)
		testbed.WantSound(t, &r)
		for _, a := range r.Areas {
			if a.Name == "cold" {
				cold = max(cold, a.Checked)
			}
		}
		if ended {
			break
		}
	}
	// what was in flight, and after a power cut what was fetched since the last sync
	report := testbed.ResumeToEnd(t, rig, cfg, disk, kills*32)
	t.Logf("%d kills, %d pages, %d of %d hosts cold at the end, %d at most at a kill", kills, report.PagesStored,
		report.HostsCold,
		report.HostsKnown, cold)
	if cold == 0 {
		t.Error("no kill came while hosts were cold")
	}
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
