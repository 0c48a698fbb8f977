package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// A site that has answered fails for a while in the middle of a crawl of this site alone. The crawl waits, goes on by
// itself and ends complete: no fault that ends within the stall wait costs a URL.
func TestOutage_ofTheOnlySiteCostsNoURL(t *testing.T) {
	for name, c := range map[string]struct {
		bad  testbed.Condition
		from time.Duration
		last time.Duration
	}{
		"refused for 20 s": {testbed.Condition{Refused: true}, 15 * time.Second, 20 * time.Second},
		"one 503, Retry-After 120": {testbed.Condition{Status: 503, Head: "Retry-After: 120\r\n"}, 15 * time.Second,
			4 * time.Second},
		"503 for 30 min":           {testbed.Condition{Status: 503}, 15 * time.Second, 30 * time.Minute},
		"429 for 30 min":           {testbed.Condition{Status: 429}, 15 * time.Second, 30 * time.Minute},
		"502 for 10 min":           {testbed.Condition{Status: 502}, 15 * time.Second, 10 * time.Minute},
		"reset for 10 min":         {testbed.Condition{Reset: true}, 15 * time.Second, 10 * time.Minute},
		"no connection for 40 min": {testbed.Condition{BlackHole: true}, 15 * time.Second, 40 * time.Minute},
		"no address for 40 min": {testbed.Condition{Refused: true, Name: dnsres.ErrServer}, 15 * time.Second,
			40 * time.Minute},
		"refused at the last page":    {testbed.Condition{Refused: true}, 38*4*time.Second + 2*time.Second, 20 * time.Minute},
		"refused after the root page": {testbed.Condition{Refused: true}, 6 * time.Second, 20 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: 1, Pages: 40, Condition: func(_ int, since time.Duration) testbed.Condition {
					if since >= c.from && since < c.from+c.last {
						return c.bad
					}
					return testbed.Condition{}
				}}
				o.Begin()
				rig, cfg := o.Config(t)
				o.Complete(t, o.Crawl(t, rig, cfg, rig.FS))
			})
		})
	}
}

// A crawl whose only site is gone waits for --stall-wait and stops as stalled. It says what it waits for, and why it
// stopped. Stopped or killed, while it waits or after that, it goes on with the same command, and ends complete.
func TestStall_theSameCommandGoesOnAndEndsComplete(t *testing.T) {
	for _, killed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: 1, Pages: 40, Condition: testbed.Lasting(testbed.Condition{Refused: true},
				15*time.Second)}
			o.Begin()
			rig, cfg := o.Config(t)
			e := o.Engine(t, rig, cfg, rig.FS)
			done := make(chan error, 1)
			go func() { done <- e.Run(t.Context()) }()
			testbed.Wait(30 * time.Minute)
			r := e.Report()
			if w := r.FailingSites; w == nil || w.Sites != 1 || w.URLs != 37 || w.NextTry == "" ||
				!strings.Contains(r.Waiting,
					"1 site that fails or asks to slow down, with 37 URLs (http://s0000.test: refused); next try ") {
				t.Errorf("it waits for %s: %+v", r.Waiting, w)
			}
			disk := rig.FS
			if killed {
				disk = rig.FS.KillClone()
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			r = e.Report()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(o.Began); took < time.Hour || took > time.Hour+time.Minute {
				t.Errorf("it stalled after %v", took)
			}
			if r.State != lifecycle.Stalled || r.URLsQueued != 37 || len(r.FailingSites.List) != 1 ||
				r.FailingSites.List[0].Outcome != "refused" {
				t.Errorf("%s: %s, %d queued: %+v", r.State, r.Reason, r.URLsQueued, r.FailingSites)
			}
			if said := rig.EngineLog.String(); !strings.Contains(
				said, `msg="failing site" site=http://s0000.test outcome=refused`,
			) {
				t.Errorf("the log:\n%s", said)
			}
			if r = o.Crawl(t, rig, cfg, disk); r.State != lifecycle.Stalled || r.URLsQueued != 37 {
				t.Errorf("run again too early: %s: %s %v", r.State, r.Reason, r.Outcomes)
			}
			o.Condition = testbed.Lasting(testbed.Condition{}, 0)
			resumed := time.Now()
			o.Complete(t, o.Crawl(t, rig, cfg, disk))
			if took := time.Since(resumed); took > 37*5*time.Second {
				t.Errorf("the resume took %v: it waited for the next try of the run before", took)
			}
		})
	}
}

// A crawl is killed while its only site asks to slow down, and no checkpoint has been made since. The resume asks the
// site at once if it named no time, however long the policy has put it off, and not before its time if it named one.
func TestResume_afterAKillAsksASiteAtOnceThatNamedNoTime(t *testing.T) {
	const named = 25 * time.Minute
	for name, c := range map[string]struct {
		bad         testbed.Condition
		least, most time.Duration
	}{
		"503, no time": {testbed.Condition{Status: 503}, 0, 37 * 5 * time.Second},
		"429, no time": {testbed.Condition{Status: 429}, 0, 37 * 5 * time.Second},
		"502":          {testbed.Condition{Status: 502}, 0, 37 * 5 * time.Second},
		"reset":        {testbed.Condition{Reset: true}, 0, 37 * 5 * time.Second},
		"refused":      {testbed.Condition{Refused: true}, 0, 37 * 5 * time.Second},
		// more slowly then
		"503, Retry-After": {testbed.Condition{Status: 503, Head: "Retry-After: 1500\r\n"}, named, named + 10*time.Minute},
		"503, a past date": {testbed.Condition{Status: 503, Head: "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n"}, 0,
			37 * 5 * time.Second},
		"robots.txt is 503": {testbed.Condition{Status: 503}, 0, 41 * 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := 15 * time.Second
				if strings.HasPrefix(name, "robots") {
					from = 0
				}
				o := &testbed.OutageWeb{Sites: 1, Pages: 40, Condition: testbed.Lasting(c.bad, from)}
				o.Begin()
				rig, cfg := o.Config(t)
				cfg.Intervals.Checkpoint = 24 * time.Hour
				e := o.Engine(t, rig, cfg, rig.FS)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- e.Run(ctx) }()
				testbed.Wait(20 * time.Minute)
				disk := rig.FS.KillClone()
				cancel()
				if err := errors.Join(<-done, e.Close()); err != nil {
					t.Error(err)
				}
				o.Condition = testbed.Lasting(testbed.Condition{}, 0)
				resumed := time.Now()
				o.Complete(t, o.Crawl(t, rig, cfg, disk))
				if took := time.Since(resumed); took < c.least || took > c.most {
					t.Errorf("the resume took %v, it should take %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}

// A site that has never answered is given up after its tries, and a name that does not exist at once. Each of its URLs
// has its outcome and its line. The crawl is finished then.
func TestGiveUp_ofASiteThatNeverAnsweredLeavesALineForEachURL(t *testing.T) {
	for name, bad := range map[string]testbed.Condition{
		"refused": {Refused: true}, "timeout": {BlackHole: true}, "reset": {Reset: true}, "503": {Status: 503},
		"no name":        {Name: dnsres.ErrNotFound},
		"no name server": {Name: dnsres.ErrServer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: 2, Pages: 300, Condition: testbed.Lasting(bad, 0, 1)}
				o.Elsewhere = func(page int) string { return fmt.Sprintf("http://%s/%d", testbed.OutageHost(1), page) }
				o.Begin()
				rig, cfg := o.Config(t)
				cfg.Politeness.HostDelay = time.Second
				cfg.Workers.SiteItems = 8 // the rest is on disk
				r := o.Crawl(t, rig, cfg, rig.FS)
				if r.State != lifecycle.Finished || r.PagesStored+r.RevisitsStored != 300 || r.URLsQueued != 0 ||
					r.URLsAdmitted != 600 {
					t.Errorf("%s: %s, stored %d, %v", r.State, r.Reason, r.PagesStored, r.Outcomes)
				}
				if took := time.Since(o.Began); took > 75*time.Minute {
					t.Errorf("it took %v", took)
				}
				lines := logLines(t, rig.FS, testbed.OutageHost(1))
				if len(lines) != 300 {
					t.Errorf("%d URLs have a final line", len(lines))
				}
			})
		})
	}
}

// logLines are the last lines of crawl.log of each page of a host, without those of attempts that are repeated.
func logLines(t *testing.T, fsys vfs.FS, host string) map[string]string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, "crawl/logs/crawl.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		url, ok := strings.CutPrefix(f[3], "http://"+host)
		if ok && url != "/robots.txt" && !strings.Contains(f[len(f)-1], ",retry") {
			if lines[url] != "" {
				t.Errorf("two final lines of %s: %s%s", url, lines[url], line)
			}
			lines[url] = line
		}
	}
	return lines
}
