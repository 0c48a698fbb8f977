package crash

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// finished is a crawl that is over, on a disk, and the web as it is when the crawl begins again.
type finished struct {
	disk *Image
	from warc.Checkpoint // where the archive ends
	web  *origin.Web
}

// finish crawls a world whose pages mostly have validators.
func finish(t *testing.T, seed uint64) *finished {
	t.Helper()
	w, err := world(seed)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Config()
	c.Validators, c.Changing = 0.8, 0.2
	f := &finished{}
	synctest.Test(t, func(t *testing.T) {
		if w, err = origin.New(c); err != nil {
			t.Fatal(err)
		}
		rig := &testbed.Rig{World: w, Log: w.NewLog(), FS: vfs.NewMem(1), Seeds: w.Seeds(3), Proxy: behindProxy(seed)}
		rig.Connect()
		r := &result{}
		if err := r.run(t.Context(), rig, config(rig), rig.FS, false); err != nil ||
			r.report.State != lifecycle.Finished {
			t.Fatal(r.report.State, err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Fatal(err)
		}
		if f.disk, err = takeImage(newImageSet(), rig.FS.KillClone()); err != nil {
			t.Fatal(err)
		}
		cut, err := inspect.Open(rig.FS, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		f.disk.When, f.from = time.Now(), cut.ArchiveEnd()
	})
	c.Edition = 1
	if f.web, err = origin.New(c); err != nil {
		t.Fatal(err)
	}
	return f
}

// refresh begins the crawl again, from where it was finished or from an image of its second pass, and judges that pass.
// rec may be nil.
func (f *finished) refresh(t *testing.T, from *Image, rec *recorder) *result {
	t.Helper()
	r := &result{}
	synctest.Test(t, func(t *testing.T) {
		image, log := f.disk, f.web.NewLog()
		if from != nil {
			image, log = from, from.log.At(from.log.Len(), from.When, 0)
		}
		<-time.After(time.Until(image.When))
		disk, err := image.disk(1)
		if err != nil {
			t.Fatal(err)
		}
		r.fsck(t, "the image", disk)
		over := from != nil && r.isOver(disk)
		w := f.web.Again(log)
		rig := &testbed.Rig{World: w, Log: log, FS: disk, Seeds: w.Seeds(3), Proxy: behindProxy(w.Config().Seed)}
		rig.Connect()
		cfg := config(rig)
		cfg.Seeds, cfg.Refresh = nil, !over
		var fsys vfs.FS = disk
		if rec != nil {
			fsys = rec.watch(disk, log, cfg.Dir)
		}
		if err := r.run(t.Context(), rig, cfg, fsys, false); err != nil {
			r.fault("the pass ends with: %v", err)
		}
		if err := rig.Net.Close(); err != nil {
			r.fault("network: %v", err)
		}
		r.takeImages(t, rec)
		f.judge(t, r, rig, cfg, disk, from)
	})
	return r
}

// isOver wants a disk to hold the finished crawl as it was, or its second pass, and says whether that is over.
func (r *result) isOver(disk *vfs.Mem) bool {
	cut, err := inspect.Open(disk, "crawl")
	if err != nil {
		r.fault("the image: %v", err)
		return false
	}
	if cut.Pass > 1 || cut.Pass == 0 && cut.State != lifecycle.Finished {
		r.fault("the image is of pass %d, %s", cut.Pass+1, cut.State)
	}
	return cut.Pass == 1 && cut.State == lifecycle.Finished
}

// past is what went before the images of a second pass.
func past() *Image { return &Image{Point: "the crawl was finished", Variant: "and began again"} }

// judge holds the second pass against what was promised.
func (f *finished) judge(t *testing.T, r *result, rig *testbed.Rig, cfg engine.Config, disk *vfs.Mem, from *Image) {
	t.Helper()
	if rep := &r.report; rep.State != lifecycle.Finished || rep.Pass != 2 {
		r.fault("pass %d ends %s: %s", rep.Pass, rep.State, rep.Reason)
	}
	r.fsck(t, "the end", disk)
	if cfg.Refresh { // if the pass was over already, nothing was removed
		r.leftovers(disk)
	}
	crawled, err := captures.Since(disk, cfg.Dir+"/warc", f.from)
	if err != nil {
		r.fault("archive: %v", err)
		return
	}
	r.hold(rig, cfg, crawled, from)
}

// TestCrashInARefresh crashes a crawl that begins again at every call that turns it over, and at some of each class
// behind that: what is on disk is the finished crawl or its second pass, and the same command brings the second pass to
// its end.
func TestCrashInARefresh(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		f := finish(t, seed)
		base := f.refresh(t, nil, newRecorder(seed, inFlight, nil, nothing))
		if len(base.faults) > 0 {
			t.Fatalf("seed %d, not killed: %s", seed, strings.Join(base.faults, "\n"))
		}
		if base.report.PagesUnchanged == 0 || base.report.PagesStored == 0 {
			t.Fatalf("seed %d: %d pages unchanged, %d stored", seed, base.report.PagesUnchanged,
				base.report.PagesStored)
		}
		tr := &trial{seed: seed, world: f.web, base: base, set: newImageSet(), rng: newRng(seed), begun: time.Now()}
		tr.crawl = func(t *testing.T, im *Image) *result { return f.refresh(t, im, nil) }
		tr.chosen = choose(base.counts, *perClass, tr.rng)
		opening := whileOpening()
		turning := 2 // manifests: that of the turn-over, and that of the first cut
		images := tr.takeImages(func(pick func(class string, n int) bool) []*Image {
			rec := newRecorder(seed, inFlight, tr.set, func(class string, n int) bool {
				early := turning > 0
				if early && !opening(class, n) {
					opening = whileOpening()
					turning--
				}
				return early || pick(class, n)
			})
			rec.follow(past())
			return f.refresh(t, nil, rec).images
		})
		tr.survive(t, images)
		tr.tell("crash in a refresh", images)
	})
}
