package invitro

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/fsck"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// examine checks the crawl on a disk, and that the check has changed nothing on it.
func examine(t *testing.T, fsys *vfs.Mem) fsck.Report {
	t.Helper()
	before := content(t, fsys)
	r := look(t, fsys)
	after := content(t, fsys)
	if len(before) != len(after) {
		t.Errorf("%d files before the check, %d after it", len(before), len(after))
	}
	for name, data := range before {
		if after[name] != data {
			t.Errorf("the check changed %s", name)
		}
	}
	return r
}

// look checks the crawl on a disk.
func look(t *testing.T, fsys *vfs.Mem) fsck.Report {
	t.Helper()
	r, err := fsck.Check(t.Context(), fsys, "crawl", fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contentMax is how much of a file content reads: segments of queues are large, and empty behind their beginning.
const contentMax = 1 << 20

// content reads all files of the crawl.
func content(t *testing.T, fsys *vfs.Mem) map[string]string {
	t.Helper()
	files := map[string]string{}
	var visit func(dir string)
	visit = func(dir string) {
		names, err := fsys.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = dir + "/" + name
			if _, err := fsys.List(name); err == nil {
				visit(name)
				continue
			}
			f, err := fsys.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(io.LimitReader(f, contentMax))
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			files[name] = string(data)
		}
	}
	visit("crawl")
	return files
}

func wantSound(t *testing.T, r *fsck.Report) {
	t.Helper()
	if !r.Sound() {
		r.Print(t.Output())
		t.Fatal("not sound")
	}
}

// largeSites is a web whose sites have more pages than the bench takes of one, so that some wait on disk.
func largeSites(seed uint64) simweb.Config {
	c := smallWorld(seed, simweb.Faulty())
	c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = 150, 400, 500
	return c
}

func fsckConfig(rig *Rig) engine.Config {
	c := rig.Config()
	c.WARC.SizeMax = 1 << 18
	c.SieveMemory = 1 << 16
	return c
}

// manySites is a web in which, to a crawl with one fetcher and short delays, more is due than can be asked: URLs wait in
// the ready queue and in the sieve's buckets.
func manySites(seed uint64) simweb.Config {
	c := smallWorld(seed, simweb.Plain())
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = 300, 250, 40, 100
	return c
}

func oneFetcher(c *engine.Config) {
	c.Fetchers = 1
	c.Politeness.HostDelay, c.Politeness.IPDelay = 10*time.Millisecond, time.Millisecond
}

// halfWay crawls for a while and stops in order.
func halfWay(t *testing.T, world simweb.Config, after time.Duration, change func(*engine.Config)) *vfs.Mem {
	t.Helper()
	rig, err := NewRig(world, true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cfg := fsckConfig(rig)
	change(&cfg)
	r, err := rig.Crawl(ctx, cfg, rig.FS)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if r.State != engine.StateStopped || r.PagesStored == 0 || r.URLsQueued == 0 {
		t.Fatalf("not half way: %s, %d pages, %d queued", r.State, r.PagesStored, r.URLsQueued)
	}
	return rig.FS
}

// halfWayWithLinks is halfWay of many sites, at a moment at which links wait in the sieve's bucket.
func halfWayWithLinks(t *testing.T, seed uint64) *vfs.Mem {
	t.Helper()
	for i := range 60 {
		fsys := halfWay(t, manySites(seed), 4*time.Second+time.Duration(i)*37*time.Millisecond, oneFetcher)
		for file, data := range content(t, fsys) {
			if under("frontier/sieve/", "pending-", "")(file) && len(data) >= 10 {
				return fsys
			}
		}
	}
	t.Fatal("at no moment do links wait in the sieve's bucket")
	return nil
}

func TestFsck_anOrderlyStopHalfWayIsSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := examine(t, halfWay(t, largeSites(*firstSeed+500), 30*time.Second, unchanged))
		wantSound(t, &r)
		if !r.Clean || r.State != "stopped" || r.Notes > 0 {
			r.Print(t.Output())
			t.Error("an orderly stop leaves nothing to tell")
		}
		for _, a := range r.Areas {
			if a.Checked == 0 && a.Name != "journal" && a.Name != "aloft" && a.Name != "ready" && a.Name != "skipped" && a.Name != "cold" { // few hosts: all have room
				t.Errorf("%s: nothing was examined", a.Name)
			}
		}
	})
}

func TestFsck_aCompleteCrawlIsSound(t *testing.T) {
	for i := range worlds() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(smallWorld(*firstSeed+520+uint64(i), simweb.Faulty()), true)
				if err != nil {
					t.Fatal(err)
				}
				rep, err := rig.Crawl(t.Context(), fsckConfig(rig), rig.FS)
				if err != nil {
					t.Fatal(err)
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
				r := examine(t, rig.FS)
				wantSound(t, &r)
				if rep.State != engine.StateFinished || r.State != "finished" {
					t.Errorf("the crawl is %s, fsck says %s", rep.State, r.State)
				}
			})
		})
	}
}

// A kill at any moment leaves a directory that is sound, and so does every resumption.
func TestFsck_aKilledCrawlIsSound(t *testing.T) {
	for i := range worlds() {
		seed := *firstSeed + 540 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(largeSites(seed), true)
				if err != nil {
					t.Fatal(err)
				}
				cfg := fsckConfig(rig)
				cfg.Checkpoint = 7 * time.Second
				rng := rand.New(rand.NewPCG(seed, 2))
				disk, journaled := rig.FS, int64(0)
				for range thin(6, 3) {
					clone, ended := kill(t, rig, cfg, disk, time.Duration(rng.Int64N(int64(30*time.Second))), sigkill)
					disk = clone
					r := examine(t, disk)
					wantSound(t, &r)
					for _, a := range r.Areas {
						if a.Name == "journal" {
							journaled += a.Checked
						}
					}
					if ended {
						break
					}
				}
				if journaled == 0 {
					t.Error("no kill came between a page and its checkpoint")
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A power cut may take what was not synced: pieces of the archive's end, of the journal, new names. Fsck must not take
// that for damage, since going on copes with it.
func TestFsck_aPowerCutIsSound(t *testing.T) {
	for i := range worlds() {
		seed := *firstSeed + 560 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(smallWorld(seed, simweb.Faulty()), true)
				if err != nil {
					t.Fatal(err)
				}
				cfg := fsckConfig(rig)
				cfg.Checkpoint = 7 * time.Second
				rng := rand.New(rand.NewPCG(seed, 2))
				disk := rig.FS
				for range thin(6, 3) {
					clone, ended := kill(t, rig, cfg, disk, time.Duration(rng.Int64N(int64(30*time.Second))),
						func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
					disk = clone
					if _, err := disk.List("crawl/" + engine.FrontierDir); err != nil {
						break // not even that was durable
					}
					r := examine(t, disk)
					wantSound(t, &r)
					if ended {
						break
					}
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A disk may write down the name of a new archive file and lose that of the file before it. What the journal names there
// is fetched again, and the file behind goes; the crawl that goes on copes, so fsck must not call it damage.
func TestFsck_aPowerCutMayTakeAnArchiveFileAndLeaveTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := largeSites(*firstSeed + 570)
		world.Hosts = thin(world.Hosts, 10)
		rig, err := NewRig(world, true)
		if err != nil {
			t.Fatal(err)
		}
		cfg := fsckConfig(rig)
		cfg.WARC.SizeMax, cfg.Checkpoint, cfg.StallWait = 1<<16, time.Hour, time.Hour
		disk, ended := kill(t, rig, cfg, rig.FS, time.Minute, sigkill)
		files, err := warc.Files(disk, "crawl/"+engine.ArchiveDir)
		if err != nil || ended || len(files) < 3 {
			t.Fatalf("%d archive files, the crawl has ended: %t (%v)", len(files), ended, err)
		}
		if err := disk.Remove("crawl/" + engine.ArchiveDir + "/" + files[len(files)-2].Name); err != nil {
			t.Fatal(err)
		}
		r := examine(t, disk)
		wantSound(t, &r)
		goOn(t, rig, cfg, disk, rig.Log.Len())
	})
}

func TestFsck_aRunningCrawlIsRefusedAndADirectoryWithoutOneToo(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("crawl/frontier"); err != nil {
		t.Fatal(err)
	}
	lock, err := fsys.Lock("crawl/" + engine.LockFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsck.Check(t.Context(), fsys, "crawl", fsck.Options{}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	r := examine(t, fsys)
	wantSound(t, &r) // killed before its first checkpoint: nothing is lost
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
