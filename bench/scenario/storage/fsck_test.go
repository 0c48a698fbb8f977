package storage

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// largeSites is a web whose sites have more pages than the bench takes of one, so that some wait on disk.
func largeSites(seed uint64) simweb.Config {
	c := testbed.SmallWorld(seed, simweb.Faulty())
	c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = 150, 400, 500
	return c
}

// manySites is a web in which, to a crawl with one fetcher and short delays, more is due than can be asked: URLs wait
// in the ready queue and in the sieve's buckets.
func manySites(seed uint64) simweb.Config {
	c := testbed.SmallWorld(seed, simweb.Plain())
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = 300, 250, 40, 100
	return c
}

func oneFetcher(c *engine.Config) {
	c.Workers.Fetchers = 1
	c.Politeness.HostDelay, c.Politeness.IPDelay = 10*time.Millisecond, time.Millisecond
}

// halfWayWithLinks is halfWay of many sites, at a moment at which links wait in the sieve's bucket.
func halfWayWithLinks(t *testing.T, seed uint64) *vfs.Mem {
	t.Helper()
	for i := range 60 {
		fsys := testbed.StopHalfWay(t, manySites(seed+uint64(i)), 4*time.Second+time.Duration(i)*37*time.Millisecond,
			oneFetcher)
		if has(t, fsys, "frontier/sieve/", "pending-") {
			return fsys
		}
	}
	t.Fatal("at no moment do links wait in the sieve's bucket")
	return nil
}

// halfWayWithReady is halfWay of many sites, with URLs in the ready queue: an operator adds them during a pause, and
// they are too many for the sieve's bucket.
func halfWayWithReady(t *testing.T, seed uint64) *vfs.Mem {
	t.Helper()
	rig, _, r := testbed.CrawlWebDuring(t, manySites(seed), true, func(c *engine.Config) {
		oneFetcher(c)
		c.Archive.SizeMax, c.Sieve.BucketBytes = 1<<18, 1<<16
	}, func(rig *testbed.Rig, e *engine.Engine) {
		testbed.Wait(4 * time.Second)
		e.Operator().Pause()
		testbed.Wait(time.Minute) // what was under way has ended
		host := rig.World.Host(0)
		_, err := e.Operator().AddURLs(t.Context(), func(yield func(string) bool) {
			for i := 0; i < 3_000 && yield(fmt.Sprintf("http://%s/posted/%d", host, i)); i++ {
			}
		})
		if err != nil {
			t.Error(err)
		}
		e.Operator().Stop()
	})
	if r.PagesStored == 0 || !has(t, rig.FS, "frontier/ready/", "q-") {
		t.Fatalf("%d pages stored, and no URLs wait in the ready queue", r.PagesStored)
	}
	return rig.FS
}

// has reports whether a disk has such a file, and it is not empty.
func has(t *testing.T, fsys *vfs.Mem, dir, name string) bool {
	t.Helper()
	for file, data := range testbed.FileContents(t, fsys) {
		if under(dir, name, "")(file) && len(data) >= 10 {
			return true
		}
	}
	return false
}

// halfWayWithQueues is halfWay of few and large sites, at a moment at which the queues on disk hold URLs.
func halfWayWithQueues(t *testing.T) *vfs.Mem {
	t.Helper()
	for i := range 50 {
		fsys := testbed.StopHalfWay(t, largeSites(*testbed.FirstSeed+500),
			30*time.Second-time.Duration(i)*500*time.Millisecond, func(c *engine.Config) { c.Workers.SiteItems = 16 })
		cut, err := inspect.Open(fsys, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		if cut.Virt.Items > 0 {
			return fsys
		}
	}
	t.Fatal("at no moment do the queues on disk hold URLs")
	return nil
}

func TestFsck_anOrderlyStopHalfWayIsSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testbed.FsckReadOnly(t, halfWayWithQueues(t))
		testbed.WantSound(t, &r)
		if !r.Clean || r.State != "stopped" || r.Notes > 0 {
			r.Print(t.Output())
			t.Error("an orderly stop leaves nothing to tell")
		}
		for _, a := range r.Areas {
			// few hosts: all have room
			if a.Checked == 0 && a.Name != "journal" && a.Name != "in flight" && a.Name != "ready" && a.Name != "urgent" &&
				a.Name != "skipped" && a.Name != "cold" {
				t.Errorf("%s: nothing was examined", a.Name)
			}
		}
	})
}

// A disk may write down the name of a new archive file and lose that of the file before it. What the journal names
// there is fetched again, and the file behind goes; the crawl that goes on copes, so fsck must not call it damage.
func TestFsck_aPowerCutMayTakeAnArchiveFileAndLeaveTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := largeSites(*testbed.FirstSeed + 570)
		world.Hosts = testbed.Reduce(world.Hosts, 10)
		rig := testbed.MustRig(t, world, true)
		cfg := testbed.FsckConfig(rig)
		cfg.Archive.SizeMax, cfg.Intervals.Checkpoint, cfg.Limits.StallWait = 1<<16, time.Hour, time.Hour
		disk, ended := testbed.Kill(t, rig, cfg, rig.FS, time.Minute, testbed.Sigkill)
		files, err := warc.Files(disk, "crawl/"+layout.ArchiveDir)
		if err != nil || ended || len(files) < 3 {
			t.Fatalf("%d archive files, the crawl has ended: %t (%v)", len(files), ended, err)
		}
		if err := disk.Remove("crawl/" + layout.ArchiveDir + "/" + files[len(files)-2].Name); err != nil {
			t.Fatal(err)
		}
		r := testbed.FsckReadOnly(t, disk)
		testbed.WantSound(t, &r)
		testbed.ResumeToEnd(t, rig, cfg, disk, rig.Log.Len())
	})
}

func TestFsck_aRunningCrawlIsRefusedAndADirectoryWithoutOneToo(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("crawl/frontier"); err != nil {
		t.Fatal(err)
	}
	lock, err := fsys.Lock("crawl/" + layout.LockFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsck.Check(t.Context(), fsys, "crawl", fsck.Options{}); !errors.Is(err, layout.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	r := testbed.FsckReadOnly(t, fsys)
	testbed.WantSound(t, &r) // killed before its first checkpoint: nothing is lost
	if _, err := fsck.Check(t.Context(), fsys, "elsewhere", fsck.Options{}); !errors.Is(err, fsck.ErrNoCrawl) {
		t.Errorf("no crawl: %v", err)
	}
}

func under(dir, prefix, suffix string) func(string) bool {
	return func(file string) bool {
		base, ok := strings.CutPrefix(file, "crawl/"+dir)
		return ok && strings.HasPrefix(base, prefix) && strings.HasSuffix(base, suffix)
	}
}
