//go:build scenario

package crawl

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine/state/lifecycle"
)

// Outages of all kinds and lengths, at the first, the middle and the last page, of one site and of many: no URL is
// lost, and none is fetched twice.
func TestOutage_ofAnyKindAndLengthCostsNoURL(t *testing.T) {
	kinds := map[string]testbed.Condition{
		"refused": {Refused: true}, "timeout": {BlackHole: true}, "reset": {Reset: true}, "500": {Status: 500},
		"503": {Status: 503}, "429": {Status: 429},
		"name servers": {Name: dnsres.ErrServer}, "no such name": {Name: dnsres.ErrNotFound},
	}
	for name, bad := range kinds {
		for _, lasts := range []time.Duration{time.Second, 20 * time.Second, 5 * time.Minute, time.Hour, 30 * time.Hour} {
			for where, from := range map[string]time.Duration{"first": 6 * time.Second, "middle": 80 * time.Second,
				"last": 158 * time.Second} {
				t.Run(fmt.Sprintf("%s/%v/%s", name, lasts, where), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o := &testbed.OutageWeb{Sites: 1, Pages: 40, Condition: between(bad, from, lasts)}
						o.Begin()
						rig, cfg := o.Config(t)
						r, stalls := o.UntilEnd(t, rig, cfg)
						o.Complete(t, r)
						if lasts < 45*time.Minute && stalls > 0 {
							t.Errorf("it stalled %d times", stalls)
						}
					})
				})
			}
		}
	}
}

// A thousand sites, and one, some or all of them fail for a while. The others go on at their pace meanwhile.
func TestOutage_amongAThousandSitesCostsNoURL(t *testing.T) {
	const sites = 1000
	for name, failing := range map[string]func(site int) bool{
		"first": func(site int) bool { return site == 0 }, "last": func(site int) bool { return site == sites-1 },
		"a third": func(site int) bool { return site%3 == 0 }, "all": func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: sites, Pages: 6, Condition: func(site int, since time.Duration) testbed.Condition {
					if failing(site) && since > 15*time.Second && since < 3*time.Hour {
						return []testbed.Condition{{Refused: true}, {Status: 503}, {Reset: true},
							{Refused: true, Name: dnsres.ErrServer}}[site%4]
					}
					return testbed.Condition{}
				}}
				o.Begin()
				rig, cfg := o.Config(t)
				cfg.Workers.Fetchers = 64
				began := time.Now()
				r := o.Crawl(t, rig, cfg, rig.FS)
				if r.State != lifecycle.Stalled || time.Since(began) > 75*time.Minute {
					t.Errorf("%s: %s after %v", r.State, r.Reason, time.Since(began))
				}
				r, _ = o.UntilEnd(t, rig, cfg)
				o.Complete(t, r)
			})
		})
	}
}

// Retry-After of every length, and values that are none: a site that asks for a pause is not asked before its time is
// over, up to a day, and nothing is lost. If the pause is longer than five minutes, its root page is asked for once: it
// says whether the site waits, or one page.
func TestOutage_retryAfterOfEveryLengthIsObeyed(t *testing.T) {
	for value, least := range map[string]time.Duration{
		"1": time.Second, "120": 2 * time.Minute, "3600": time.Hour, "86400": 24 * time.Hour, "2592000": 24 * time.Hour,
		"soon": 0, "-5": 0,
		"Sat, 01 Jan 2000 00:40:00 GMT": 39 * time.Minute,
	} {
		t.Run(value, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked time.Time
				busy := 0
				o := &testbed.OutageWeb{Sites: 1, Pages: 40}
				o.Condition = func(_ int, since time.Duration) testbed.Condition {
					switch {
					case since < 15*time.Second:
						return testbed.Condition{}
					case asked.IsZero():
						asked = time.Now()
					case time.Since(asked) >= least:
						return testbed.Condition{}
					}
					busy++
					return testbed.Condition{Status: 503, Head: "Retry-After: " + value + "\r\n"}
				}
				o.Begin()
				rig, cfg := o.Config(t)
				r, stalls := o.UntilEnd(t, rig, cfg)
				o.Complete(t, r)
				if most := 1; busy > most && least <= 5*time.Minute || busy > most+1 {
					t.Errorf("%d requests within %v", busy, least)
				}
				if least < time.Hour && stalls > 0 || least > time.Hour && stalls == 0 {
					t.Errorf("it stalled %d times", stalls)
				}
			})
		})
	}
}

// A site that has answered and fails for seven days is given up: each URL has its outcome and its line, whatever kills
// there were.
func TestGiveUp_afterSevenDaysLeavesALineForEachURL(t *testing.T) {
	for _, pages := range []int{5000, 60} {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: 2, Pages: pages, Condition: testbed.Lasting(testbed.Condition{Refused: true},
				15*time.Second, 1)}
			o.Begin()
			rig, cfg := o.Config(t)
			cfg.Limits.StallWait = 30 * 24 * time.Hour
			cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Minute, time.Hour, time.Hour
			r := o.Crawl(t, rig, cfg, rig.FS)
			took := time.Since(o.Began)
			if r.State != lifecycle.Finished || r.URLsQueued != 0 || r.Outcomes["given-up"] < int64(pages-5) ||
				took < 7*24*time.Hour || took > 8*24*time.Hour {
				t.Errorf("%s: %s after %v: %v", r.State, r.Reason, took, r.Outcomes)
			}
			if lines := logLines(t, rig.FS, testbed.OutageHost(1)); len(lines) != pages {
				t.Errorf("%d of %d URLs have a final line", len(lines), pages)
			}
		})
	}
}

// A crawl that waits for its site is killed ten times at random moments: the site keeps its queue each time.
func TestStall_killedWhileItWaitsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 5))
		o := &testbed.OutageWeb{Sites: 3, Pages: 40, Condition: testbed.Lasting(testbed.Condition{Refused: true},
			60*time.Second)}
		o.Begin()
		rig, cfg := o.Config(t)
		disk := rig.FS
		for range 10 {
			e := o.Engine(t, rig, cfg, disk)
			done := make(chan error, 1)
			go func() { done <- e.Run(t.Context()) }()
			testbed.Wait(time.Duration(rng.Int64N(int64(50 * time.Minute))))
			disk = disk.KillClone()
			e.Abort()
			<-done
			_ = e.Close() // it is dead
		}
		r := o.Crawl(t, rig, cfg, disk)
		if r.State != lifecycle.Stalled || r.URLsQueued == 0 || r.URLsAdmitted != 120 {
			t.Errorf("%s: %s, admitted %d: %v", r.State, r.Reason, r.URLsAdmitted, r.Outcomes)
		}
		o.Condition = testbed.Lasting(testbed.Condition{}, 0)
		o.Complete(t, o.Crawl(t, rig, cfg, disk))
	})
}
