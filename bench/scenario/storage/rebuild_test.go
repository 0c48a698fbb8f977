//go:build scenario

package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc"
)

// A crawl that has come to its end has nothing to fetch after a rebuild, but what failed without an answer.
func TestRebuild_aFinishedCrawlStaysFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := testbed.KillHalfWay(t, testbed.CopiesWorld(*testbed.FirstSeed+820), 100*time.Hour, testbed.Sigkill)
		before := testbed.CountCaptures(t, b.Disk)
		testbed.Rebuild(t, b.Rig, b.Cfg, b.Disk)
		testbed.ResumeToEnd(t, b.Rig, b.Cfg, b.Disk, 0)
		after := testbed.CountCaptures(t, b.Disk)
		for url, n := range after {
			if n.Pages > before[url].Pages && !strings.Contains(url, "/~robots/") {
				t.Errorf("%s was stored %d times, and is now %d times", url, before[url].Pages, n.Pages)
			}
		}
	})
}

// Whichever file of the frontier has a wrong byte, or is gone: fsck says so, and what is rebuilt is always the same.
func TestHostile_S08_whateverIsWrongWithTheFrontierIsRebuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := testbed.KillHalfWay(t, testbed.CopiesWorld(*testbed.FirstSeed+830), 60*time.Second, testbed.Sigkill)
		ref := b.Disk.KillClone()
		want := testbed.Rebuild(t, b.Rig, b.Cfg, ref)
		tried := 0
		files := testbed.NamedFiles(t, b.Disk)
		for _, d := range damages() {
			for _, file := range slices.Sorted(maps.Keys(files)) {
				if !d.match(file) || !strings.HasPrefix(file, "crawl/"+layout.FrontierDir) || len(files[file]) < 10 {
					continue
				}
				disk := b.Disk.KillClone()
				testbed.FlipByte(t, disk, file, d.where(files[file])[0])
				if r := testbed.Fsck(t, disk); !names(&r, file) {
					r.Print(t.Output())
					t.Errorf("%s: fsck does not name it", file)
				}
				r := testbed.Rebuild(t, b.Rig, b.Cfg, disk)
				if r.Done != want.Done || r.Queued != want.Queued || r.Pages != want.Pages || len(r.Damage) > 0 {
					t.Errorf("after damage to %s: %+v, want %+v", file, r, want)
				}
				if _, err := disk.Size("crawl/" + r.Aside + strings.TrimPrefix(file, "crawl/"+layout.FrontierDir)); err != nil {
					t.Errorf("the damaged file was not kept: %v", err)
				}
				tried++
				break
			}
		}
		if tried < 6 {
			t.Errorf("only %d kinds of files were tried", tried)
		}
		testbed.ResumeToEnd(t, b.Rig, b.Cfg, ref, b.Cfg.Workers.Fetchers)
	})
}

// When the first of several equal payloads is lost, the revisits that name it are of no use: all of them are fetched
// again.
func TestRebuild_revisitsOfALostPayloadAreFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := testbed.KillHalfWay(t, testbed.CopiesWorld(*testbed.FirstSeed+845), 3*time.Minute, testbed.Sigkill)
		before := testbed.CountCaptures(t, b.Disk)
		file, at, revisits := payloadWithRevisits(t, b.Disk)
		testbed.FlipByte(t, b.Disk, file, at)
		r := testbed.Rebuild(t, b.Rig, b.Cfg, b.Disk)
		told := 0
		for _, d := range r.Damage {
			if strings.Contains(d.Text, "the revisit of") {
				told++
			}
		}
		if told != revisits || r.Copies < 0 {
			t.Errorf("%d revisits were told, %d named the payload", told, revisits)
		}
		lost := 0
		for url, n := range testbed.CountCaptures(t, b.Disk) {
			lost += before[url].All - n.All
		}
		testbed.ResumeToEnd(t, b.Rig, b.Cfg, b.Disk, lost+1+told+b.Cfg.Workers.Fetchers)
	})
}

// payloadWithRevisits finds a response that revisits name: a place in its member, and their number.
func payloadWithRevisits(t *testing.T, fsys *vfs.Mem) (file string, at, revisits int) {
	t.Helper()
	named := map[string]int{}
	places := map[string]int{}
	in := map[string]string{}
	files, err := warc.Files(fsys, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range files {
		data, err := vfs.ReadFile(fsys, "crawl/warc/"+info.Name)
		if err != nil {
			t.Fatal(err)
		}
		z := warc.NewReader(bytes.NewReader(data), warc.ReaderOptions{Name: info.Name})
		for {
			rec, err := z.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				_, err = rec.ReadBlock(1 << 30)
			}
			if err != nil {
				t.Fatal(err)
			}
			id := rec.Get("WARC-Record-ID")
			places[id], in[id] = int(rec.Offset+rec.Length/2), "crawl/warc/"+info.Name
			if rec.Type == warc.Revisit {
				named[rec.Get("WARC-Refers-To")]++
			}
		}
		z.Close()
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		if named[id] > revisits {
			file, at, revisits = in[id], places[id], named[id]
		}
	}
	if revisits == 0 {
		t.Fatal("no revisit in the archive")
	}
	return file, at, revisits
}

// A rebuild that was killed, or whose disk failed, is begun again, and comes to the same; until then the crawl does not
// start.
func TestRebuild_killedAtAnyMomentItIsDoneAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := testbed.KillHalfWay(t, testbed.CopiesWorld(*testbed.FirstSeed+850), 45*time.Second, testbed.Sigkill)
		ref := b.Disk.KillClone()
		want := testbed.Rebuild(t, b.Rig, b.Cfg, ref)
		rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 4))
		refused := 0
		for point := 1; ; point += testbed.Reduce(1, 4) + point/3 {
			disk := b.Disk.KillClone()
			seams := b.Rig.Seams(faultfs.New(disk, faultfs.NewScript(faultfs.Rule{From: point, Err: syscall.EIO})))
			_, err := engine.Rebuild(t.Context(), b.Cfg, seams, rebuild.Options{})
			if point%2 == 0 {
				disk = disk.CrashClone(rng)
			} else {
				disk = disk.KillClone()
			}
			if _, oerr := engine.Open(b.Cfg, b.Rig.Seams(disk.KillClone())); errors.Is(oerr, rebuild.ErrUnfinished) {
				refused++
			}
			r := testbed.Rebuild(t, b.Rig, b.Cfg, disk)
			if r.Done != want.Done || r.Queued != want.Queued || r.Pages != want.Pages {
				t.Errorf("killed at call %d: %+v, want %+v", point, r, want)
			}
			if err == nil {
				break
			}
		}
		if refused == 0 {
			t.Error("half a rebuild was never taken for one")
		}
		testbed.ResumeToEnd(t, b.Rig, b.Cfg, ref, b.Cfg.Workers.Fetchers)
	})
}

func TestRebuild_limitsAndScopeHoldOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, largeSites(*testbed.FirstSeed+860), true)
		cfg := testbed.FsckConfig(rig)
		cfg.Limits.MaxPerHost, cfg.Filters.Scope = 20, "host"
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		if _, err := rig.Crawl(ctx, cfg, rig.FS); err != nil {
			t.Fatal(err)
		}
		lost := cfg
		lost.Seeds = nil
		kept := rig.FS.KillClone()
		testbed.RemoveTree(t, rig.FS, "crawl/"+layout.FrontierDir)
		if _, err := engine.Rebuild(t.Context(), lost, rig.Seams(rig.FS), rebuild.Options{}); !errors.Is(err,
			rebuild.ErrSeedsLost) {
			t.Errorf("a scope about seeds, and no seeds: %v", err)
		}
		testbed.Rebuild(t, rig, cfg, rig.FS) // given again
		r := testbed.Rebuild(t, rig, lost, kept)
		if r.Seeds != len(rig.Seeds) { // left of the old frontier
			t.Errorf("%d seeds of %d", r.Seeds, len(rig.Seeds))
		}
		if _, err := rig.Crawl(t.Context(), lost, kept); err != nil {
			t.Fatal(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		p := testbed.Promise(cfg)
		p.Resumed, p.Partial, p.MaxPerHost = true, true, cfg.Limits.MaxPerHost
		v := rig.MustJudge(t, p, kept)
		v.Repeated, v.Overlap = 0, 0
		if !v.Sound() {
			v.Print(t.Output())
			t.Error("after a rebuild under limits")
		}
	})
}

func TestRebuild_withoutAnArchiveThereIsNothingToRebuildFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.CopiesWorld(*testbed.FirstSeed+870), true)
		if _, err := engine.Rebuild(t.Context(), rig.Config(), rig.Seams(rig.FS), rebuild.Options{}); !errors.Is(
			err,
			rebuild.ErrNoArchive,
		) {
			t.Error(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
	})
}
