//go:build scenario

package recrawl

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// copyArchive copies the archive of a crawl to a directory of another disk.
func copyArchive(t *testing.T, from, to *vfs.Mem, dir string) {
	t.Helper()
	for name, b := range testbed.FileContents(t, from) {
		base, is := strings.CutPrefix(name, "crawl/warc/")
		if !is {
			continue
		}
		err := vfs.WriteAtomic(to, dir+"/"+base, func(w io.Writer) error { _, err := io.WriteString(w, b); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A second crawl of a web, which has changed a little, names the archive of the first as a source of payloads, and is
// killed half-way. What is stored there is not stored again; each revisit leads to its payload in one of the two
// archives, and the whole web is crawled.
func TestDedupFrom_storesWhatTheOtherArchiveLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+867, simweb.Faulty())
		world.CopyShare, world.Changing = 0.3, 0.3
		first := crawlOnce(t, world)
		world.Edition = 1
		rig := testbed.MustRig(t, world, true)
		disk := rig.FS
		if err := disk.MkdirAll("earlier"); err != nil {
			t.Fatal(err)
		}
		copyArchive(t, first.rig.FS, disk, "earlier")
		cfg := testbed.FsckConfig(rig)
		cfg.Archive.SizeMax, cfg.Limits.StallWait = 1<<16, time.Hour
		cfg.Seen.Others.From = []string{"earlier"}
		disk, _ = testbed.Kill(t, rig, cfg, disk, 20*time.Second, testbed.Sigkill)
		report := testbed.ResumeToEnd(t, rig, cfg, disk, 16)
		if report.PagesStored == 0 || report.RevisitsStored < report.PagesStored {
			t.Errorf("%d pages stored, %d revisits", report.PagesStored, report.RevisitsStored)
		}
		archive := lookup.New(lookup.NewFiles(lookup.Options{FS: disk, Dirs: []string{"earlier", "crawl/warc"}}))
		elsewhere, here := 0, 0
		testbed.EachRecordAt(t, disk, func(rec *warc.RecordRead, _ warc.Checkpoint) {
			if rec.Type != warc.Revisit {
				return
			}
			if rec.Get(otherarchives.RefersToFile) == "" {
				here++
				return
			}
			elsewhere++
			wantOriginal(t, archive, rec)
		})
		if elsewhere < 50 {
			t.Errorf("%d revisits of the other archive, %d of this one", elsewhere, here)
		}
	})
}

// wantOriginal wants the record that a revisit names to be there, with the same payload.
func wantOriginal(t *testing.T, archive *lookup.Archive, revisit *warc.RecordRead) {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, revisit.Get("WARC-Refers-To-Date"))
	if err != nil {
		t.Fatal(err)
	}
	uri := revisit.Get("WARC-Refers-To-Target-URI")
	c, err := archive.Closest(t.Context(), uri, at)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := archive.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Type != warc.Response || rec.Get("WARC-Record-ID") != revisit.Get("WARC-Refers-To") ||
		string(c.File) != revisit.Get(otherarchives.RefersToFile) || !rec.Date.Equal(at) ||
		rec.Get("WARC-Payload-Digest") != revisit.Get("WARC-Payload-Digest") || captures.Status(revisit.Block) == 0 {
		t.Errorf("the revisit of %s names %+v", revisit.TargetURI, rec.Fields)
	}
	if err := rec.Close(); err != nil {
		t.Error(err)
	}
}

// A crawl with revisits of another archive loses its frontier. With that archive, a rebuild reads the links of these
// pages there, and none is fetched again. Without it the links are not known: the pages are fetched again, and the
// result says which archive is missing. Nothing of the web is lost either way.
func TestRebuild_findsPayloadsInTheArchivesThatAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+868, simweb.Faulty())
		world.CopyShare = 0.3
		first := crawlOnce(t, world)
		for _, with := range [][]string{{"earlier"}, nil} {
			rig := testbed.MustRig(t, world, true)
			if err := rig.FS.MkdirAll("earlier"); err != nil {
				t.Fatal(err)
			}
			copyArchive(t, first.rig.FS, rig.FS, "earlier")
			cfg := testbed.FsckConfig(rig)
			cfg.Limits.StallWait = time.Hour
			cfg.Seen.Others.From = []string{"earlier"}
			disk, _ := testbed.Kill(t, rig, cfg, rig.FS, 40*time.Second, testbed.Sigkill)
			elsewhere := 0
			testbed.EachRecordAt(t, disk, func(rec *warc.RecordRead, _ warc.Checkpoint) {
				if otherarchives.IsElsewhere(rec) {
					elsewhere++
				}
			})
			testbed.RemoveTree(t, disk, "crawl/"+layout.FrontierDir)
			r := testbed.Rebuild(t, rig, cfg, disk, with...)
			if elsewhere < 30 || r.Done == 0 && with != nil {
				t.Fatalf("%d revisits of the other archive, %d URLs done: the test checks nothing", elsewhere, r.Done)
			}
			again := cfg.Workers.Fetchers
			if with == nil {
				again += elsewhere
			}
			wantMissing(t, r.Damage, elsewhere, with == nil)
			testbed.ResumeToEnd(t, rig, cfg, disk, again)
		}
	})
}

// wantMissing wants the damage of a rebuild to say of each revisit where its payload is, if that is not named.
func wantMissing(t *testing.T, damage []rebuild.Damage, revisits int, isMissing bool) {
	t.Helper()
	n := 0
	for _, d := range damage {
		if strings.Contains(d.Text, "of another archive: name its directory with --with") {
			n++
		}
	}
	if isMissing != (n == revisits) || !isMissing && n > 0 {
		t.Errorf("of %d revisits, %d have no payload: %+v", revisits, n, damage)
	}
}
