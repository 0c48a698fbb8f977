package crawl

import (
	"errors"
	"fmt"
	"net"
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

// walled answers with a challenge of status 200 that has a link, until the time open has passed.
func walled(open time.Duration) testbed.Responder {
	began := time.Now()
	return func(path string, _ int, c net.Conn) {
		switch {
		case path == "/robots.txt":
			testbed.Respond(c, 404, "", "")
		case time.Since(began) < open:
			testbed.Respond(c, 200, "CF-Mitigated: challenge\r\n", "<a href=/inside-the-wall>x</a>")
		case path == "/":
			testbed.Respond(c, 200, "", "<a href=/one>x</a><a href=/two>x</a>")
		default:
			testbed.Respond(c, 200, "", "the page "+path)
		}
	}
}

// For an hour a service answers in place of a site. Its answers are no pages, no link of theirs is followed, and the
// site is asked ever more slowly. Then its pages come, all of them.
func TestWalls_areNoPagesAndTheSiteKeepsItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: walled(50 * time.Minute)}}
		r, _ := s.Crawl(t, testbed.NoChange)
		asked := map[string]int{}
		for _, request := range s.Pages(testbed.FirstHost) {
			asked[request.Path]++
		}
		if r.PagesStored != 3 || r.Outcomes["ok"] != 3 || r.Outcomes["wall"] != 0 || r.RevisitsStored != 0 {
			t.Errorf("%d pages, %d revisits, %v", r.PagesStored, r.RevisitsStored, r.Outcomes)
		}
		if asked["/inside-the-wall"] != 0 || asked["/"] > 16 || asked["/one"] != 1 {
			t.Errorf("requests %v", asked)
		}
	})
}

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

// One page of a site always meets a wall, and the others do not. It ends with the outcome wall, after its tries. It is
// no page in the archive either: the counters agree with it, also in a frontier that is made again.
func TestWalls_ofOnePageEndThatPageAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &testbed.OutageWeb{
			Sites: 1, Pages: 4, Condition: testbed.Lasting(testbed.Condition{}, 0),
			Broken:   func(page int) bool { return page == 2 },
			BrokenBy: testbed.Condition{Status: 200, Head: "X-Amzn-Waf-Action: captcha\r\n"},
		}
		web.Begin()
		rig, cfg := web.Config(t)
		r := web.Crawl(t, rig, cfg, rig.FS)
		if r.State != lifecycle.Finished || r.Outcomes["wall"] != 1 || r.PagesStored != 3 || r.Outcomes["ok"] != 3 {
			t.Errorf("%s: %s, %d pages, %v", r.State, r.Reason, r.PagesStored, r.Outcomes)
		}
		checked := testbed.Fsck(t, rig.FS)
		testbed.WantSound(t, &checked)
		testbed.Rebuild(t, rig, cfg, rig.FS)
	})
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

// The wall of a page has the very bytes of another page. That page is stored whole when it comes, and no revisit of the
// wall: the payload of a wall is the original of nothing.
func TestWalls_areNoOriginals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page3 := "<p>" + testbed.OutageHost(0) + "/2"
		web := &testbed.OutageWeb{
			Sites: 1, Pages: 4, Condition: testbed.Lasting(testbed.Condition{}, 0),
			Broken: func(page int) bool { return page == 0 || page == 1 }, BrokenBy: challenge(page3),
		}
		web.Begin()
		rig, cfg := web.Config(t)
		r := web.Crawl(t, rig, cfg, rig.FS)
		if r.Outcomes["wall"] != 2 || r.Outcomes["ok"] != 2 || r.PagesStored != 2 || r.RevisitsStored != 0 {
			t.Errorf("%s: %d pages, %d revisits, %v", r.State, r.PagesStored, r.RevisitsStored, r.Outcomes)
		}
		testbed.Rebuild(t, rig, cfg, rig.FS)
		later := web.Crawl(t, rig, cfg, rig.FS)
		if later.PagesStored != 2 || later.RevisitsStored != 0 {
			t.Errorf("after a rebuild: %d pages, %d revisits, %v", later.PagesStored, later.RevisitsStored, later.Outcomes)
		}
	})
}

// members is a host whose pages are for members until a time has passed: each URL that isClosed has redirects to the
// log-in page.
func members(open time.Duration, isClosed func(path string) bool) testbed.Responder {
	began := time.Now()
	return func(path string, _ int, c net.Conn) {
		page, _, _ := strings.Cut(path, "?")
		switch {
		case page == "/robots.txt":
			testbed.Respond(c, 404, "", "")
		case page == "/account/login":
			testbed.Respond(c, 200, "", "<title>Log in</title><a href=/account/register>register</a>")
		case page != "/account/register" && time.Since(began) < open && isClosed(page):
			testbed.Respond(c, 302, "Location: /account/login?back="+path+"\r\n", "")
		case page == "/":
			testbed.Respond(c, 200, "", testbed.LinksPage(30))
		default:
			testbed.Respond(c, 200, "", "the page "+page)
		}
	}
}

// pointer is a host whose root links to the root and to 30 pages of another host.
func pointer(to string) testbed.Responder {
	return func(path string, _ int, c net.Conn) {
		if path == "/robots.txt" {
			testbed.Respond(c, 404, "", "")
			return
		}
		body := "<a href=http://" + to + "/>x</a>"
		for i := range 30 {
			body += fmt.Sprintf("<a href=http://%s/%d>x</a>", to, i)
		}
		testbed.Respond(c, 200, "", body)
	}
}

// A site redirects everything to its log-in page, for an hour. After a few URLs the crawl knows it for a wall and waits
// with the others. None of these is lost.
func TestWalls_aSiteThatIsForMembersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const host = "members.test"
		s := &testbed.ScriptedHosts{Seeds: []string{testbed.FirstHost}, Hosts: map[string]testbed.Responder{
			testbed.FirstHost: pointer(host), host: members(time.Hour, func(string) bool { return true }),
		}}
		r, _ := s.Crawl(t, testbed.NoChange)
		if r.Outcomes["redirect"] > 10 || r.Outcomes["wall"] != 0 || r.Outcomes["ok"] < 30-10 {
			t.Errorf("%v", r.Outcomes)
		}
	})
}

// Half of the pages of a site are for members. Each of them redirects, and the others come: that is no wall.
func TestWalls_aSiteWithSomePagesForMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: members(100*time.Hour, func(path string) bool { return len(path) == 3 && path > "/15" }),
		}}
		r, _ := s.Crawl(t, testbed.NoChange)
		if r.Outcomes["redirect"] != 14 || r.Outcomes["wall"] != 0 || r.Outcomes["ok"] != 32 {
			t.Errorf("%v", r.Outcomes)
		}
	})
}

// A site for members alone never opens. Its redirects that are walls are in the archive as such: all checks of the
// directory agree with the journal, and a frontier that is made again asks for these URLs, and not for the others.
func TestWalls_logInRedirectsInTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &testbed.OutageWeb{Sites: 1, Pages: 1, Condition: testbed.Lasting(
			testbed.Condition{Status: 302, Head: "Location: /login\r\n", RobotsUp: true}, 0)}
		web.Begin()
		rig, _ := web.Config(t)
		for i := range 12 {
			rig.Seeds = append(rig.Seeds, fmt.Sprintf("http://%s/%d", testbed.OutageHost(0), i))
		}
		cfg := rig.Config()
		cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Second, time.Minute, time.Minute
		r := web.Crawl(t, rig, cfg, rig.FS)
		if r.State != lifecycle.Stalled || r.URLsQueued < 8 || r.PagesStored != 0 || r.Outcomes["redirect"] > 5 {
			t.Errorf("%s: %s, %d queued, %v", r.State, r.Reason, r.URLsQueued, r.Outcomes)
		}
		if row := wallRow(t, rig.FS); row[0] != "log-in" || row[4] != fmt.Sprint(r.URLsQueued) {
			t.Errorf("%d queued, the report says %q", r.URLsQueued, row)
		}
		checked := testbed.Fsck(t, rig.FS)
		testbed.WantSound(t, &checked)
		testbed.Rebuild(t, rig, cfg, rig.FS)
		again := web.Crawl(t, rig, cfg, rig.FS)
		if again.State != lifecycle.Stalled || again.URLsQueued < 3 || again.Outcomes["wall"] != 0 {
			t.Errorf("after a rebuild %s: %s, %d queued, %v", again.State, again.Reason, again.URLsQueued, again.Outcomes)
		}
	})
}
