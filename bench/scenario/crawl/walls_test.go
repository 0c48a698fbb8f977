package crawl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// A crawl whose only site is behind a wall stops as stalled, with its queue. The records of the wall are in the
// archive, and no index has them.
func TestWalls_aCrawlOfNothingElseStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &testbed.OutageWeb{Sites: 1, Pages: 3, Condition: testbed.Lasting(
			testbed.Condition{Status: 200, Head: "CF-Mitigated: challenge\r\n", RobotsUp: true}, 0)}
		web.Begin()
		rig, cfg := web.Config(t)
		disk := rig.FS
		r := web.Crawl(t, rig, cfg, disk)
		if r.State != lifecycle.Stalled || r.URLsQueued != 1 || r.PagesStored != 0 {
			t.Errorf("%s: %s, %d queued, %d pages", r.State, r.Reason, r.URLsQueued, r.PagesStored)
		}
		walls := 0
		testbed.EachRecord(t, disk, func(rec *warc.RecordRead) {
			if _, isIndexed, err := rec.IndexEntry(); rec.IsWall() && (isIndexed || err != nil) {
				t.Errorf("the wall at %d has an index entry: %v", rec.Offset, err)
			} else if rec.IsWall() {
				walls++
			}
		})
		if walls == 0 {
			t.Error("no wall is archived")
		}
		if row := wallRow(t, disk); !slices.Equal(row[:5], []string{
			"cloudflare", testbed.OutageHost(0), fmt.Sprint(walls + 1), "0", "1", // a probe is not archived
		}) || !strings.HasPrefix(row[5], "2000-01-01T00:00:0") {
			t.Errorf("the report says %q", row)
		}
		checked := testbed.Fsck(t, disk)
		testbed.WantSound(t, &checked)
	})
}

// wallRow is the only row of the report of walls.
func wallRow(t *testing.T, disk vfs.FS) (only []string) {
	t.Helper()
	r, err := logreport.Make(t.Context(), disk, "crawl", []logreport.Kind{logreport.Walls}, logreport.Options{
		Temp: vfs.NewMem(1), TempDir: "t",
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = r.Each(t.Context(), logreport.Walls, func(row []string) error {
		only = slices.Clone(row)
		rows++
		return nil
	})
	if err = errors.Join(err, r.Close()); err != nil || rows != 1 || len(only) != len(logreport.Walls.Columns()) {
		t.Fatalf("%d rows, the last %q: %v", rows, only, err)
	}
	return only
}

// challenge is how a site behind a wall behaves. Its robots.txt is not behind it.
func challenge(body string) testbed.Condition {
	return testbed.Condition{Status: 200, Head: "CF-Mitigated: challenge\r\n", Body: body, RobotsUp: true}
}

// The crawl is killed while a wall stands. The resumed one tries the site once, as every failing one, and goes on
// waiting: the site fails since the same moment. When the wall falls all pages come, each once.
func TestWalls_aKilledCrawlGoesOnWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kill, falls = 30 * time.Minute, 100 * time.Minute
		web := &testbed.OutageWeb{Sites: 1, Pages: 4, Condition: func(_ int, since time.Duration) testbed.Condition {
			if since < falls {
				return challenge("<a href=/inside>x</a>")
			}
			return testbed.Condition{}
		}}
		web.Begin()
		rig, cfg := web.Config(t)
		cfg.Limits.StallWait = 3 * time.Hour
		e := web.Engine(t, rig, cfg, rig.FS)
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		time.Sleep(kill)
		before, waits := web.Tried, e.Report().FailingSites
		disk := rig.FS.KillClone()
		e.Abort()
		<-done
		_ = e.Close()
		due, err := time.Parse(time.RFC3339, waits.NextTry)
		if err != nil || !due.After(time.Now()) || waits.Largest.Outcome != "wall" {
			t.Fatalf("%v: %+v", err, waits)
		}

		cfg.Seeds = nil
		e = web.Engine(t, rig, cfg, disk)
		go func() { done <- e.Run(t.Context()) }()
		time.Sleep(time.Until(due) - time.Second)
		if n, still := web.Tried-before, e.Report().FailingSites; n > 1 || still == nil ||
			still.Largest.Outcome != "wall" || still.Largest.FailingSince != waits.Largest.FailingSince {
			t.Errorf("%d connections after the resume, before %s: %+v", n, waits.NextTry, still)
		}
		if row := wallRow(t, disk); row[4] != "1" || row[5] != waits.Largest.FailingSince {
			t.Errorf("while it runs, the report says %q, and the crawl since %s", row, waits.Largest.FailingSince)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		r := e.Report()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		web.Open.Wait()
		if r.PagesStored != 4 || r.State != lifecycle.Finished || r.Outcomes["wall"] != 0 || r.RevisitsStored != 0 {
			t.Errorf("%s: %s, %d pages, %v", r.State, r.Reason, r.PagesStored, r.Outcomes)
		}
		checked := testbed.Fsck(t, disk)
		testbed.WantSound(t, &checked)
	})
}
