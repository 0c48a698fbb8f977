package golden_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/traps"
	"orbweaver/internal/golden"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// With -golden.write, directories that do not exist are made. Without, each must be there.
func TestWrite_makesDirectoriesThatDoNotExist(t *testing.T) {
	if !golden.Writing() {
		t.Skip("only with -golden.write") // a tool that writes files; the other tests read them
	}
	for _, d := range all() {
		if _, err := os.Stat(golden.Dir + "/" + d.name); errors.Is(err, fs.ErrNotExist) {
			synctest.Test(t, func(t *testing.T) { golden.Add(t, d.name, d.make(t)) })
		}
	}
}

// each opens every directory in a bubble of its own.
func each(t *testing.T, f func(t *testing.T, d *directory, c *crawl)) {
	t.Helper()
	for _, d := range all() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { f(t, &d, d.open(t)) })
		})
	}
}

// check is what fsck finds; it must find nothing wrong.
func (c *crawl) check(t *testing.T) fsck.Report {
	t.Helper()
	r, err := fsck.Check(t.Context(), c.disk, "crawl", fsck.Options{Temp: vfs.NewMem(2), TempDir: "temp"})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Sound() {
		r.Print(t.Output())
		t.Error("fsck finds faults")
	}
	return r
}

// verify examines the WARC files as `warc verify` does, and returns the number of records by type.
func (c *crawl) verify(t *testing.T) map[string]int {
	t.Helper()
	files, err := warc.Files(c.disk, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	v := warc.NewVerifier(warc.VerifyOptions{
		OnFault: func(f *warc.Fault) { t.Error(f) },
		Open:    func(name string) bool { return open[name] },
	})
	for _, info := range files {
		name := "crawl/warc/" + info.Name
		open[name] = info.Open
		f, err := c.disk.Open(name)
		if err == nil {
			err = errors.Join(v.File(name, f), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := v.Finish()
	return r.Types
}

// judge holds the server's log and the captures from a place of the archive on against the web. With again set, a crawl
// was killed and may repeat as many requests.
func (c *crawl) judge(t *testing.T, from warc.Checkpoint, again int) {
	t.Helper()
	p := judge.Promise{
		HostDelay: c.cfg.Politeness.HostDelay,
		IPDelay:   c.cfg.Politeness.IPDelay,
		Contact:   "https://example.org/bot",
		Resumed:   true,
	}
	p.Expect.Seeds = c.rig.Seeds
	captures, err := captures.Since(c.disk, "crawl/warc", from)
	if err != nil {
		t.Fatal(err)
	}
	v := c.rig.World.Judge(c.rig.Log, p, captures)
	repeated := v.Repeated
	v.Repeated, v.Overlap = 0, 0
	if v.Expected != c.note.Expected {
		t.Errorf("the simulated web has %d pages, and had %d when the directory was made: it must stay as it was",
			v.Expected, c.note.Expected)
	}
	if !v.Sound() || v.Coverage != 1 || repeated > again {
		v.Print(t.Output())
		t.Errorf("%d requests repeated, at most %d allowed", repeated, again)
	}
	if c.calendar == nil {
		return
	}
	lost, twice := c.calendar.unknown(c.leftOut(t))
	if len(lost) > 0 || len(twice) > again {
		t.Errorf("the calendar: %d URLs lost, %d fetched twice: %v %v", len(lost), len(twice), lost, twice)
	}
}

// leftOut reads the list of URLs left out.
func (c *crawl) leftOut(t *testing.T) map[string]bool {
	t.Helper()
	list := map[string]bool{}
	err := inspect.EachSkipped(c.disk, "crawl", func(s traps.SkippedURL) error {
		list[s.URL] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// finish runs a crawl to its end, and checks the counts.
func (c *crawl) finish(t *testing.T) report.Report {
	t.Helper()
	r := c.run(t)
	var outcomes int64
	for _, n := range r.Outcomes {
		outcomes += n
	}
	if r.State != lifecycle.Finished || r.URLsQueued+r.URLsInFlight != 0 || r.URLsAdmitted != outcomes {
		t.Errorf("%s: %s; %d URLs admitted, %d outcomes, %d queued, %d in flight", r.State, r.Reason, r.URLsAdmitted,
			outcomes, r.URLsQueued, r.URLsInFlight)
	}
	return r
}

// repeats is how many requests a directory may cost twice: those in flight at the kill.
func (d *directory) repeats(c *crawl) int {
	if d.end.kill {
		return c.cfg.Workers.Fetchers
	}
	return 0
}

// A directory of an earlier version opens, goes on where it stopped, and ends with every page of the web stored once.
func TestResume_aGoldenCrawlGoesOnToItsEnd(t *testing.T) {
	each(t, func(t *testing.T, d *directory, c *crawl) {
		found := c.check(t)
		if found.Clean == d.end.kill || (found.State == "finished") != (d.end.when == nil) {
			t.Errorf("%s, clean: %v", found.State, found.Clean)
		}
		c.verify(t)
		listed := c.leftOut(t)
		asked := c.rig.Log.Len()
		r := c.finish(t)
		c.judge(t, warc.Checkpoint{}, d.repeats(c))
		c.check(t)
		types := c.verify(t)
		for url := range listed {
			if !c.leftOut(t)[url] {
				t.Errorf("%s was left out, and is not listed now", url)
			}
		}
		switch n := c.rig.Log.Len() - asked; {
		case d.end.when == nil && n > 0:
			t.Errorf("%d requests of a finished crawl", n)
		case d.end.when != nil && (r.Resumed != 1 || r.PagesStored <= c.note.Pages || n == 0):
			t.Errorf("resumed %d times, %d pages, %d before, %d requests", r.Resumed, r.PagesStored, c.note.Pages, n)
		}
		if int64(types["revisit"]) < r.RevisitsStored || r.RevisitsStored == 0 {
			t.Errorf("%d revisits in the report, records %v", r.RevisitsStored, types)
		}
	})
}

// empty names the areas of fsck in which an unfinished directory has nothing. An orderly stop leaves no journal; the
// ready queue is empty unless more is due than the workers take; a URL is in flight at a checkpoint only while its
// record waits for the disk. The tests of the codecs in package engine hold the forms of those.
func (d *directory) empty() []string {
	if d.end.kill {
		return []string{"ready", "in flight", "cold", "skipped", "queues"}
	}
	return []string{"ready", "in flight", "journal"}
}

// The unfinished directories hold what a crawl can hold, so that a reader that is lost is noticed.
func TestGolden_unfinishedCrawlsHoldEveryKindOfState(t *testing.T) {
	for _, d := range []directory{stopped(), killed()} {
		synctest.Test(t, func(t *testing.T) {
			c := d.open(t)
			if err := c.rig.Net.Close(); err != nil {
				t.Error(err)
			}
			found := c.check(t)
			for _, a := range found.Areas {
				if a.Checked == 0 && !slices.Contains(d.empty(), a.Name) {
					t.Errorf("%s: nothing in area %s", d.name, a.Name)
				}
			}
			if c.note.Pages == 0 || c.note.Queued == 0 {
				t.Errorf("%s: %+v", d.name, c.note)
			}
			if !d.end.kill {
				c.checkWaiting(t, d.world.Timing.RetryAfter)
			}
		})
	}
}

// checkWaiting checks that some site asked for more time than it had, that URLs were left out, and that pages are
// revisits.
func (c *crawl) checkWaiting(t *testing.T, retryAfter time.Duration) {
	t.Helper()
	waiting := 0
	for a := range c.rig.Log.All() {
		if a.RetryAfter && a.End.Add(retryAfter).After(c.note.Stopped) {
			waiting++
		}
	}
	if waiting == 0 || len(c.leftOut(t)) == 0 || c.note.Revisits == 0 {
		t.Errorf("%d sites asked for time, %d URLs left out, %d revisits", waiting, len(c.leftOut(t)), c.note.Revisits)
	}
}

// A crawl without its frontier is rebuilt from the archive alone, and ends with the same pages.
func TestRebuild_aGoldenCrawlWithoutFrontier(t *testing.T) {
	each(t, func(t *testing.T, d *directory, c *crawl) {
		removeTree(t, c.disk, "crawl/"+layout.FrontierDir)
		r, err := engine.Rebuild(t.Context(), c.cfg, c.rig.Seams(c.disk), rebuild.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Pages < c.note.Pages || len(r.Damage) > 0 {
			t.Errorf("rebuilt %+v, and %d pages were stored", r, c.note.Pages)
		}
		c.check(t)
		c.finish(t)
		c.judge(t, warc.Checkpoint{}, c.cfg.Workers.Fetchers)
		c.check(t)
		c.verify(t)
	})
}

// A new pass over a finished directory stores what has changed since, and revisits of what has not.
func TestRefresh_aGoldenCrawlIsCrawledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := finished()
		c := d.open(t)
		before, err := inspect.Open(c.disk, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		d.world.Edition = 1
		later := d.build(t, c.disk)
		later.note, later.cfg.Archive.Dictionary = c.note, c.cfg.Archive.Dictionary
		later.cfg.Seeds, later.cfg.Refresh = nil, true
		if err := c.rig.Net.Close(); err != nil {
			t.Error(err)
		}
		r := later.finish(t)
		later.judge(t, before.ArchiveEnd(), 0)
		later.check(t)
		later.verify(t)
		if r.Pass != 2 || r.PagesUnchanged == 0 || r.PagesStored == 0 {
			t.Errorf("pass %d: %d pages unchanged, %d stored", r.Pass, r.PagesUnchanged, r.PagesStored)
		}
	})
}
