//go:build scenario

package recrawl

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// walledWeb is a site of four pages. From a time on, two of them meet a wall with the bytes of another page.
func walledWeb(from, to time.Duration) *testbed.OutageWeb {
	web := &testbed.OutageWeb{Sites: 1, Pages: 4, Condition: testbed.Lasting(testbed.Condition{}, 0)}
	web.Broken = func(page int) bool {
		since := time.Since(web.Began)
		return page < 2 && from <= since && since < to
	}
	web.BrokenBy = testbed.Condition{
		Status: 200, Head: "X-Amzn-Waf-Action: captcha\r\n", Body: "<p>" + testbed.OutageHost(0) + "/2",
	}
	return web
}

// refresh makes another pass, and returns its lines of the feed.
func refresh(t *testing.T, web *testbed.OutageWeb, rig *testbed.Rig, r *reader) []string {
	t.Helper()
	_, cfg := web.Config(t)
	cfg.Seeds, cfg.Refresh = nil, true
	report := web.Crawl(t, rig, cfg, rig.FS)
	if report.State != lifecycle.Finished || report.URLsQueued != 0 {
		t.Errorf("%s: %s, %v", report.State, report.Reason, report.Outcomes)
	}
	r.told = nil
	r.readFiles(rig.FS)
	slices.Sort(r.told)
	return r.told
}

// Pages of a crawl that is refreshed meet a wall. The feed tells nothing of them: they are not changed, not new and not
// gone. When the wall has fallen they are unchanged since their last capture, and not since the wall.
func TestWalls_areNoChangesOfTheirPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := walledWeb(24*time.Hour, 48*time.Hour)
		web.Begin()
		rig, cfg := web.Config(t)
		web.Crawl(t, rig, cfg, rig.FS)
		r := &reader{t: t}
		r.readFiles(rig.FS)
		if len(r.told) != 4 {
			t.Errorf("first pass: %q", r.told)
		}
		testbed.Wait(24*time.Hour - time.Since(web.Began))
		if got := refresh(t, web, rig, r); !slices.Equal(got, []string{
			"unchanged http://s0000.test/", "unchanged http://s0000.test/2",
		}) {
			t.Errorf("behind the wall: %q", got)
		}
		testbed.Wait(48*time.Hour - time.Since(web.Began))
		if got := refresh(t, web, rig, r); !slices.Equal(got, []string{
			"unchanged http://s0000.test/", "unchanged http://s0000.test/0", "unchanged http://s0000.test/1",
			"unchanged http://s0000.test/2",
		}) {
			t.Errorf("after the wall: %q", got)
		}
		found := testbed.Fsck(t, rig.FS)
		testbed.WantSound(t, &found)
	})
}

// An archive has walls with the bytes of a page that another crawl meets. The other crawl
// takes payloads of that archive: the root page is stored there, and no wall is an original.
func TestWalls_ofAnotherArchiveAreNoOriginals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := walledWeb(0, 100*24*time.Hour)
		web.Broken = func(int) bool { return true } // each page but the root
		web.Begin()
		rig, cfg := web.Config(t)
		if first := web.Crawl(t, rig, cfg, rig.FS); first.PagesStored != 1 || first.Outcomes["wall"] != 3 {
			t.Fatalf("%d pages, %v", first.PagesStored, first.Outcomes)
		}
		later := walledWeb(0, 0)
		later.Begin()
		other, cfg := later.Config(t)
		if err := other.FS.MkdirAll("earlier"); err != nil {
			t.Fatal(err)
		}
		copyArchive(t, rig.FS, other.FS, "earlier")
		cfg.Seen.Others.From = []string{"earlier"}
		r := later.Crawl(t, other, cfg, other.FS)
		if r.PagesStored != 3 || r.RevisitsStored != 1 {
			t.Errorf("%d pages, %d revisits: %v", r.PagesStored, r.RevisitsStored, r.Outcomes)
		}
	})
}

// The index of an archive is lost. The refresh reads the WARC files in its place, and takes no wall for a capture.
func TestWalls_areNoCapturesForARefreshWithoutIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := walledWeb(0, 24*time.Hour)
		web.BrokenBy.Head += "ETag: \"wall\"\r\n"
		web.Begin()
		rig, cfg := web.Config(t)
		web.Crawl(t, rig, cfg, rig.FS)
		removeIndexes(t, rig.FS)
		testbed.Wait(24*time.Hour - time.Since(web.Began))
		r := &reader{t: t}
		got := refresh(t, web, rig, r)
		if want := []string{
			"new http://s0000.test/", "new http://s0000.test/0", "new http://s0000.test/1", "new http://s0000.test/2",
			"unchanged http://s0000.test/", "unchanged http://s0000.test/2",
		}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		testbed.EachRecord(t, rig.FS, func(rec *warc.RecordRead) {
			if rec.Type == warc.Revisit && rec.IsWall() {
				t.Errorf("the wall at %d is a revisit", rec.Offset)
			}
		})
	})
}

func removeIndexes(t *testing.T, fsys *vfs.Mem) {
	t.Helper()
	for name := range testbed.FileContents(t, fsys) {
		if !strings.HasSuffix(name, ".cdxj") {
			continue
		}
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
