//go:build scenario

package recrawl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// refreshed is a crawl that is finished, of a web whose pages say by what they are known again.
type refreshed struct {
	rig   *testbed.Rig
	cfg   engine.Config
	first report.Report
}

func crawlOnce(t *testing.T, world simweb.Config) *refreshed {
	t.Helper()
	rig := testbed.MustRig(t, world, true)
	r := &refreshed{rig: rig, cfg: testbed.FsckConfig(rig)}
	r.cfg.Archive.SizeMax = 1 << 16
	r.cfg.Limits.StallWait = time.Hour
	r.first = testbed.ResumeToEnd(t, rig, r.cfg, rig.FS, 0)
	return r
}

// later is the same web some time later, with a log of its own.
func (r *refreshed) later(t *testing.T, edition int) {
	t.Helper()
	c := r.rig.World.Config()
	c.Edition = edition
	rig := testbed.MustRig(t, c, true)
	rig.FS = r.rig.FS
	r.rig = rig
	r.cfg.Seeds = nil
	r.cfg.Refresh = true
}

// pass is what a pass put into the archive.
type pass struct {
	unchanged int
	whole     int // responses with status 200
}

// since counts what the archive has from a place on, and wants each revisit of what is unchanged to lead to the
// response that it names.
func since(t *testing.T, fsys *vfs.Mem, from warc.Checkpoint) (p pass) {
	t.Helper()
	there := map[string]*warc.RecordRead{}
	testbed.EachRecordAt(t, fsys, func(rec *warc.RecordRead, at warc.Checkpoint) {
		if rec.Type == warc.Response {
			there[rec.Get("WARC-Record-ID")] = rec
		}
		if robots := bytes.HasSuffix(rec.TargetURI, []byte("/robots.txt")); robots {
			if rec.Type == warc.Request && bytes.Contains(rec.Block, []byte("\r\nIf-")) {
				t.Errorf("a condition on %s", rec.TargetURI)
			}
			return
		}
		if at.Before(from) {
			return
		}
		status := captures.Status(rec.Block)
		switch of := there[rec.Get("WARC-Refers-To")]; {
		case rec.Get("WARC-Profile") == warc.ProfileNotModified:
			p.unchanged++
			if status != 304 || of == nil || string(of.TargetURI) != rec.Get("WARC-Refers-To-Target-URI") ||
				of.Get("WARC-Date") != rec.Get("WARC-Refers-To-Date") ||
				of.Get("WARC-Payload-Digest") != rec.Get("WARC-Payload-Digest") {
				t.Errorf("%s is unchanged, and what it refers to is not what it says: %+v", rec.TargetURI, rec.Fields)
			}
		case rec.Type == warc.Response && status == 304:
			t.Errorf("%s: a 304 that is no revisit", rec.TargetURI)
		case rec.Type == warc.Response && status == 200:
			p.whole++
		}
	})
	return p
}

// judge holds a pass against the web as it was then, and the directory against itself. again is how many requests may
// have been repeated.
func (r *refreshed) judge(t *testing.T, fsys *vfs.Mem, from warc.Checkpoint, again int) pass {
	t.Helper()
	p := since(t, fsys, from)
	pr := testbed.Promise(r.cfg)
	pr.Resumed = again > 0
	pr.Expect.Seeds = r.rig.Seeds
	list, err := captures.Since(fsys, "crawl/warc", from)
	if err != nil {
		t.Fatal(err)
	}
	v := r.rig.World.Judge(r.rig.Log, pr, list)
	repeated := v.Repeated
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() || v.Coverage != 1 || repeated > again {
		v.Print(t.Output())
		t.Errorf("%d requests repeated, %d at most", repeated, again)
	}
	found := testbed.Fsck(t, fsys)
	testbed.WantSound(t, &found)
	return p
}

func (r *refreshed) run(t *testing.T) report.Report {
	t.Helper()
	report, err := r.rig.Crawl(t.Context(), r.cfg, r.rig.FS)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.rig.Net.Close(); err != nil {
		t.Error(err)
	}
	testbed.CheckConservation(t, report)
	if report.State != lifecycle.Finished {
		t.Fatalf("%s: %s", report.State, report.Reason)
	}
	return report
}

// catalogues is how many lists of the archive there are, whole or not.
func catalogues(t *testing.T, fsys *vfs.Mem) (n int) {
	t.Helper()
	for name := range testbed.FileContents(t, fsys) {
		if strings.Contains(name, "/catalogue") {
			n++
		}
	}
	return n
}

func validWorld(seed uint64) simweb.Config {
	c := testbed.SmallWorld(seed, simweb.Plain())
	c.Faults = simweb.Harmless(0.02)
	c.Faults.OddHeaders = 0 // they have heads of their own
	c.Validators, c.CopyShare = 1, 0.2
	return c
}

// When nothing has changed, every page is asked for once, on condition, and nothing is sent again; the crawl walks the
// whole web all the same, by what it has. So it is the next time.
func TestRefresh_ofAWebThatHasNotChangedStoresNoPageTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := crawlOnce(t, validWorld(*testbed.FirstSeed+860))
		for n := range 2 {
			from := testbed.Inspect(t, r.rig.FS).ArchiveEnd()
			r.later(t, 0)
			report := r.run(t)
			p := r.judge(t, r.rig.FS, from, 0)
			pages := r.first.PagesStored + r.first.RevisitsStored
			if p.whole > 0 || int64(p.unchanged) != pages || report.PagesUnchanged != pages || report.PagesStored != 0 ||
				report.RevisitsStored != 0 {
				t.Errorf("time %d: %d pages, then %d unchanged and %d sent: %d %d %d", n, pages, p.unchanged, p.whole,
					report.PagesUnchanged, report.PagesStored, report.RevisitsStored)
			}
			if report.Pass != n+2 || report.Outcomes["not-modified"] != pages || report.Statuses["304"] != pages {
				t.Errorf("pass %d, outcomes %v", report.Pass, report.Outcomes)
			}
			if found, lists := testbed.Fsck(t, r.rig.FS), catalogues(t, r.rig.FS); found.Notes > 0 || lists != 1 {
				found.Print(t.Output())
				t.Errorf("time %d: %d lists of the archive", n, lists)
			}
			if report.BytesReceived*4 > r.first.BytesReceived {
				t.Errorf("%d bytes received, and %d the first time", report.BytesReceived, r.first.BytesReceived)
			}
		}
	})
}

// What has changed is stored again, and what has not is not, time after time; hosts that say nothing of their pages are
// asked for all.
func TestRefresh_storesWhatHasChanged(t *testing.T) {
	for i := range testbed.WorldSeeds() {
		seed := *testbed.FirstSeed + 861 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := testbed.SmallWorld(seed, simweb.Faulty())
				world.CopyShare, world.Validators, world.Changing, world.GzipShare = 0.4, 0.8, 0.3, 0.5
				r := crawlOnce(t, world)
				for edition := 1; edition < testbed.Reduce(3, 2); edition++ {
					from := testbed.Inspect(t, r.rig.FS).ArchiveEnd()
					r.later(t, edition)
					r.run(t)
					if p := r.judge(t, r.rig.FS, from, 0); p.unchanged == 0 || p.whole == 0 {
						t.Errorf("edition %d: %d pages unchanged, %d sent", edition, p.unchanged, p.whole)
					}
				}
			})
		})
	}
}

// A host that asked to slow down, or that was contacted just before, rests when the crawl begins again at once.
func TestRefresh_waitsForThoseWhoAskedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+864, simweb.Plain())
		world.Hosts, world.IPs = 60, 60
		world.Robots = simweb.Robots{AllowAll: 0.3, CrawlDelay: 0.4}
		world.Faults.Unavailable = 0.05
		world.Timing.RetryAfter, world.Timing.CrawlDelay = 200*time.Second, 20*time.Second
		rig := testbed.MustRig(t, world, true)
		cfg := testbed.FsckConfig(rig)
		cfg.Limits.MaxPages = 150 // it ends, and has been asked to come back later
		if _, err := rig.Crawl(t.Context(), cfg, rig.FS); err != nil {
			t.Fatal(err)
		}
		cfg.Seeds, cfg.Refresh, cfg.Limits.MaxPages = nil, true, 0
		report, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if err = errors.Join(err, rig.Net.Close()); err != nil || report.Pass != 2 {
			t.Fatal(report.Pass, err)
		}
		v := rig.MustJudge(t, testbed.Promise(cfg), rig.FS)
		if v.HostGapViolations+v.IPGapViolations+v.RetryAfterViolations+v.HostConcurrency+v.IPConcurrency > 0 ||
			v.Repeated == 0 {
			v.Print(t.Output())
			t.Error("a server was asked too early")
		}
	})
}

// A pass that is killed, again and again, ends as if it had not been; that it is one need not be said again.
func TestRefresh_killedAgainAndAgainEndsWithTheSamePages(t *testing.T) {
	for i := range testbed.WorldSeeds() {
		seed := *testbed.FirstSeed + 870 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 4))
				world := testbed.CopiesWorld(seed)
				world.Validators, world.Changing = 0.9, 0.1
				r := crawlOnce(t, world)
				from := testbed.Inspect(t, r.rig.FS).ArchiveEnd()
				r.later(t, 1)
				kills := 0
				for ; kills < 5; kills++ {
					var ended bool
					death := testbed.Sigkill
					if kills%2 == 1 {
						death = func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) }
					}
					r.rig.FS, ended = testbed.Kill(t, r.rig, r.cfg, r.rig.FS, time.Duration(rng.Int64N(int64(30*time.Second))), death)
					if ended {
						break
					}
					r.cfg.Refresh = kills%3 == 0
				}
				if kills == 0 {
					t.Fatal("the pass was too short to be killed")
				}
				r.cfg.Refresh = false
				if report := r.run(t); report.Pass != 2 {
					t.Errorf("pass %d", report.Pass)
				}
				if p := r.judge(t, r.rig.FS, from, kills*r.cfg.Workers.Fetchers); p.unchanged == 0 {
					t.Error("no page is unchanged")
				}
			})
		})
	}
}

// The list of what the archive holds is made of the indexes; where one is gone or damaged, of the file. It comes to the
// same.
func TestRefresh_needsNoIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := crawlOnce(t, validWorld(*testbed.FirstSeed+880))
		from := testbed.Inspect(t, r.rig.FS).ArchiveEnd()
		files, err := warc.Files(r.rig.FS, "crawl/warc")
		if err != nil || len(files) < 3 {
			t.Fatal(len(files), err)
		}
		if err := r.rig.FS.Remove("crawl/warc/" + files[0].Index()); err != nil {
			t.Fatal(err)
		}
		b, err := vfs.ReadFile(r.rig.FS, "crawl/warc/"+files[1].Index())
		if err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteAtomic(r.rig.FS, "crawl/warc/"+files[1].Index(), func(w io.Writer) error {
			_, err := w.Write(b[:len(b)-40])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		r.later(t, 0)
		report := r.run(t)
		if p := since(t, r.rig.FS, from); p.whole > 0 || report.PagesUnchanged != r.first.PagesStored+r.first.RevisitsStored {
			t.Errorf("%d pages sent, %d unchanged", p.whole, report.PagesUnchanged)
		}
	})
}

// A list that is gone or damaged when a killed pass goes on is made again, as it was.
func TestRefresh_makesItsListAgain(t *testing.T) {
	for _, hurt := range testbed.Sample([]func(t *testing.T, disk *vfs.Mem, name string){
		func(t *testing.T, disk *vfs.Mem, name string) {
			if err := disk.Remove(name); err != nil {
				t.Error(err)
			}
		},
		func(t *testing.T, disk *vfs.Mem, name string) {
			size, err := disk.Size(name)
			if err != nil {
				t.Error(err)
			}
			testbed.FlipByte(t, disk, name, int(size)-5)
		},
	}) {
		synctest.Test(t, func(t *testing.T) {
			r := crawlOnce(t, validWorld(*testbed.FirstSeed+881))
			from := testbed.Inspect(t, r.rig.FS).ArchiveEnd()
			r.later(t, 0)
			var ended bool
			if r.rig.FS, ended = testbed.Kill(t, r.rig, r.cfg, r.rig.FS, 10*time.Second, testbed.Sigkill); ended {
				t.Fatal("not killed")
			}
			before := testbed.Inspect(t, r.rig.FS)
			hurt(t, r.rig.FS, "crawl/"+recrawl.IndexFile(1))
			found := testbed.Fsck(t, r.rig.FS)
			testbed.WantSound(t, &found)
			if found.Notes == 0 {
				t.Error("fsck says nothing")
			}
			report := r.run(t)
			if p := r.judge(t, r.rig.FS, from, r.cfg.Workers.Fetchers); p.whole > 0 ||
				report.PagesUnchanged != r.first.PagesStored+r.first.RevisitsStored {
				t.Errorf("%d pages sent, %d unchanged", p.whole, report.PagesUnchanged)
			}
			if after := testbed.Inspect(t, r.rig.FS); *after.Earlier != *before.Earlier || after.From != before.From {
				t.Errorf("the list was %+v, and is %+v", before.Earlier, after.Earlier)
			}
		})
	}
}

// A page is unchanged, and its stored body cannot be read any more: it is asked for once again, without condition, so
// that its links are found and the archive has it.
func TestRefresh_asksAgainForWhatItCannotReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := validWorld(*testbed.FirstSeed + 882)
		world.Hosts, world.PageBytesMean = testbed.Reduce(24, 8), 100<<10
		r := crawlOnce(t, world)
		hurt := map[string]bool{}
		testbed.EachRecordAt(t, r.rig.FS.KillClone(), func(rec *warc.RecordRead, at warc.Checkpoint) {
			if rec.Type == warc.Response && rec.ContentLength > 10<<10 && len(hurt) < 3 {
				info, err := warc.FindFile(r.rig.FS, "crawl/warc", at.Serial)
				if err != nil {
					t.Error(err)
				}
				testbed.FlipByte(t, r.rig.FS, "crawl/warc/"+info.Name, int(rec.Offset+rec.Length)-6)
				hurt[string(rec.TargetURI)] = true
			}
		})
		if len(hurt) == 0 {
			t.Fatal("no page has 10 KiB")
		}
		r.later(t, 0)
		report := r.run(t)
		pr := testbed.Promise(r.cfg)
		pr.Expect.Seeds = r.rig.Seeds
		v := r.rig.World.Judge(r.rig.Log, pr, nil)
		pages := r.first.PagesStored + r.first.RevisitsStored
		if v.Coverage != 1 || v.Repeated != len(hurt) || report.RevisitsStored != int64(len(hurt)) ||
			report.PagesUnchanged != pages-int64(len(hurt)) {
			v.Print(t.Output())
			t.Errorf(
				"%d damaged of %d; %d stored, %d revisits, %d unchanged", len(hurt), pages, report.PagesStored,
				report.RevisitsStored, report.PagesUnchanged,
			)
		}
	})
}

// A rebuild knows of no passes: what has a record is done, whichever pass it is of. So a pass that loses its frontier
// is over, and the crawl can be refreshed once more.
func TestRebuild_ofARefreshEndsThePassAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.CopiesWorld(*testbed.FirstSeed + 883)
		world.Validators, world.Changing = 0.9, 0.2
		r := crawlOnce(t, world)
		pages := testbed.CountCaptures(t, r.rig.FS)
		r.later(t, 1)
		var ended bool
		if r.rig.FS, ended = testbed.Kill(t, r.rig, r.cfg, r.rig.FS, 20*time.Second, testbed.Sigkill); ended {
			t.Fatal("not killed")
		}
		rebuilt := testbed.Rebuild(t, r.rig, r.cfg, r.rig.FS)
		if len(rebuilt.Damage) > 0 || rebuilt.Unchanged == 0 {
			t.Errorf("%d unchanged, damage: %v", rebuilt.Unchanged, rebuilt.Damage)
		}
		r.cfg.Refresh, r.cfg.Limits.StallWait = true, time.Hour // what is stopped goes on; its last tries take minutes
		if report := r.run(t); report.Pass != 1 {
			t.Errorf("pass %d", report.Pass)
		}
		found := testbed.Fsck(t, r.rig.FS)
		testbed.WantSound(t, &found)
		now := testbed.CountCaptures(t, r.rig.FS)
		for url, n := range pages {
			if now[url].Pages < n.Pages {
				t.Errorf("%s: %+v, and it was %+v", url, now[url], n)
			}
		}
		from := testbed.Inspect(t, r.rig.FS).ArchiveEnd()
		r.later(t, 2)
		r.run(t)
		if p := r.judge(t, r.rig.FS, from, 0); p.unchanged == 0 {
			t.Error("no page is unchanged")
		}
	})
}

// A revisit that says "unchanged" is worth nothing without the record that it is about: fsck misses that, and a rebuild
// has the page fetched again.
func TestRebuild_doesNotKeepARevisitOfAnUnchangedPageThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := crawlOnce(t, validWorld(*testbed.FirstSeed+884))
		r.later(t, 0)
		r.run(t)
		var url string
		testbed.EachRecordAt(t, r.rig.FS.KillClone(), func(rec *warc.RecordRead, at warc.Checkpoint) {
			if rec.Type == warc.Response && url == "" && len(rec.TargetURI) > len("http://h10.sim.test/") &&
				!bytes.HasSuffix(rec.TargetURI, []byte("/robots.txt")) {
				info, err := warc.FindFile(r.rig.FS, "crawl/warc", at.Serial)
				if err != nil {
					t.Error(err)
				}
				testbed.FlipByte(t, r.rig.FS, "crawl/warc/"+info.Name, int(rec.Offset+rec.Length)-6)
				url = string(rec.TargetURI)
			}
		})
		findings := fmt.Sprint(testbed.Fsck(t, r.rig.FS).Findings)
		if !strings.Contains(findings, "a record is unchanged which is not in the archive") {
			t.Errorf("fsck: %v", findings)
		}
		rebuilt := testbed.Rebuild(t, r.rig, r.cfg, r.rig.FS)
		if !strings.Contains(fmt.Sprint(rebuilt.Damage), "the revisit of") {
			t.Errorf("damage: %v", rebuilt.Damage)
		}
		r.later(t, 0)
		r.cfg.Refresh = false
		r.run(t)
		if n := testbed.CountCaptures(t, r.rig.FS)[url]; n.Pages != 1 || n.All != 1 {
			t.Errorf("%s: %+v", url, n)
		}
	})
}

// The limits of a crawl count from the beginning of the pass. That of the disk is for the directory.
func TestRefresh_limitsCountFromThePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := crawlOnce(t, validWorld(*testbed.FirstSeed+885))
		r.later(t, 0)
		r.cfg.Limits.MaxPages = 20
		report := r.run(t)
		isNear := func(n, limit int64) bool { return n >= limit && n <= limit+int64(r.cfg.Workers.Fetchers) }
		n := report.PagesUnchanged + report.PagesStored + report.RevisitsStored
		if !isNear(n, 20) || report.Reason != "max-pages reached" {
			t.Errorf("%d pages: %s", n, report.Reason)
		}
		found := testbed.Fsck(t, r.rig.FS)
		testbed.WantSound(t, &found)
		r.later(t, 0)
		r.cfg.Refresh, r.cfg.Limits.MaxPages = false, 30 // the limit is higher: the same pass goes on
		report = r.run(t)
		if n = report.PagesUnchanged + report.PagesStored + report.RevisitsStored; !isNear(n, 30) || report.Pass != 2 {
			t.Errorf("%d unchanged, %d stored, pass %d", report.PagesUnchanged, report.PagesStored, report.Pass)
		}
		before := testbed.FileContents(t, r.rig.FS)
		r.later(t, 0)
		r.cfg.Limits.MaxPages, r.cfg.Limits.MaxDisk = 0, report.BytesStored
		if _, err := r.rig.Crawl(t.Context(), r.cfg, r.rig.FS); !errors.Is(err, recrawl.ErrDiskSpent) {
			t.Errorf("the disk is spent: %v", err)
		}
		after := testbed.FileContents(t, r.rig.FS)
		if manifest := "crawl/" + layout.ManifestFile; after[manifest] != before[manifest] {
			t.Error("the crawl was begun again all the same")
		}
		r.cfg.Limits.MaxDisk = testbed.DiskUsed(t, r.rig.FS) + 100_000_000
		if report = r.run(t); report.Pass != 3 {
			t.Errorf("pass %d", report.Pass)
		}
	})
}
