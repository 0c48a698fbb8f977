package crash

import (
	"errors"
	"path"
	"strings"
	"testing"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// fsck wants a disk without a fault.
func (r *result) fsck(t *testing.T, what string, disk *vfs.Mem) {
	t.Helper()
	r.fsckOf(t, what, disk, "crawl")
}

func (r *result) fsckOf(t *testing.T, what string, disk *vfs.Mem, dir string) {
	t.Helper()
	report, err := fsck.Check(t.Context(), disk, dir, fsck.Options{})
	if errors.Is(err, fsck.ErrNoCrawl) {
		return // killed before there was one
	}
	if err != nil {
		r.fault("fsck of %s: %v", what, err)
	}
	if !report.Sound() {
		var b strings.Builder
		report.Print(&b)
		r.fault("fsck of %s: %s", what, b.String())
	}
}

// judge holds a crawl that has ended against everything that was promised.
func (r *result) judge(t *testing.T, rig *testbed.Rig, cfg engine.Config, disk *vfs.Mem, from *Image) {
	t.Helper()
	rep := &r.report
	if rep.State != lifecycle.Finished {
		r.fault("the crawl ends %s: %s", rep.State, rep.Reason)
	}
	r.fsck(t, "the end", disk)
	var outcomes int64
	for _, n := range rep.Outcomes {
		outcomes += n
	}
	if rep.URLsAdmitted != outcomes || rep.URLsQueued != 0 || rep.URLsInFlight != 0 {
		r.fault("E1: admitted %d, outcomes %d, queued %d, in flight %d", rep.URLsAdmitted, outcomes, rep.URLsQueued,
			rep.URLsInFlight)
	}
	r.leftovers(disk)
	crawled, err := captures.All(disk, cfg.Dir+"/warc")
	if err != nil {
		r.fault("archive: %v", err)
		return
	}
	r.hold(rig, cfg, crawled, from)
}

// hold holds what is in the archive, or in the part of it that the last pass wrote, against what the world has seen,
// and keeps its pages.
func (r *result) hold(rig *testbed.Rig, cfg engine.Config, crawled judge.Crawled, from *Image) {
	r.pages = map[string]bool{}
	for c := range crawled {
		if c.Status == 200 && !c.Truncated {
			r.pages[c.URL] = true
		}
	}
	v := rig.World.Judge(rig.Log, judge.Promise{
		HostDelay: cfg.Politeness.HostDelay, IPDelay: cfg.Politeness.IPDelay, Contact: "https://example.org/bot",
		Expect: judge.ExpectOptions{Seeds: rig.Seeds},
	}, crawled)
	allowed := 0
	if from != nil {
		allowed = from.Bound
	}
	if r.again = v.Repeated; r.again > allowed {
		r.fault("%d pages fetched again, at most %d were in flight or not synced", r.again, allowed)
	}
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() {
		var b strings.Builder
		v.Print(&b)
		r.fault("the oracle: %s", b.String())
	}
}

// leftovers wants no file that was only on its way to be one.
func (r *result) leftovers(disk *vfs.Mem) {
	image, err := takeImage(newImageSet(), disk.KillClone())
	if err != nil {
		r.fault("%v", err)
		return
	}
	for _, f := range image.Files {
		if ext := path.Ext(f.Name); ext == ".tmp" || ext == ".open" {
			r.fault("left behind: %s", f.Name)
		}
	}
}

// compare holds a crawl that was killed against one that was not.
func (r *result) compare(base *result) {
	for url := range base.pages {
		if !r.pages[url] {
			r.fault("not in the archive: %s", url)
		}
	}
	for url := range r.pages {
		if !base.pages[url] {
			r.fault("in the archive, and not in that of the unkilled crawl: %s", url)
		}
	}
	if r.report.Cluster == nil && r.report.URLsAdmitted != base.report.URLsAdmitted {
		r.fault("%d URLs admitted, %d in the unkilled crawl", r.report.URLsAdmitted, base.report.URLsAdmitted)
	}
}
