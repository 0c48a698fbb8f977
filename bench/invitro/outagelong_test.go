//go:build scenario

package invitro

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine"
)

// Outages of all kinds and lengths, at the first, the middle and the last page, of one site and of many: no URL is lost, and none is fetched twice.
func TestOutage_ofAnyKindAndLengthCostsNoURL(t *testing.T) {
	kinds := map[string]condition{
		"refused": {refused: true}, "timeout": {blackHole: true}, "reset": {reset: true}, "500": {status: 500}, "503": {status: 503}, "429": {status: 429},
		"name servers": {name: dnsres.ErrServer}, "no such name": {name: dnsres.ErrNotFound},
	}
	for name, bad := range kinds {
		for _, lasts := range []time.Duration{time.Second, 20 * time.Second, 5 * time.Minute, time.Hour, 30 * time.Hour} {
			for where, from := range map[string]time.Duration{"first": 6 * time.Second, "middle": 80 * time.Second, "last": 158 * time.Second} {
				t.Run(fmt.Sprintf("%s/%v/%s", name, lasts, where), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o := &outageWeb{sites: 1, pages: 40, condition: between(bad, from, lasts)}
						o.begin()
						rig, cfg := o.config(t)
						r, stalls := o.untilEnd(t, rig, cfg)
						o.complete(t, r)
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
				o := &outageWeb{sites: sites, pages: 6, condition: func(site int, since time.Duration) condition {
					if failing(site) && since > 15*time.Second && since < 3*time.Hour {
						return []condition{{refused: true}, {status: 503}, {reset: true}, {refused: true, name: dnsres.ErrServer}}[site%4]
					}
					return condition{}
				}}
				o.begin()
				rig, cfg := o.config(t)
				cfg.Fetchers = 64
				began := time.Now()
				r := o.crawl(t, rig, cfg, rig.FS)
				if r.State != engine.StateStalled || time.Since(began) > 75*time.Minute {
					t.Errorf("%s: %s after %v", r.State, r.Reason, time.Since(began))
				}
				r, _ = o.untilEnd(t, rig, cfg)
				o.complete(t, r)
			})
		})
	}
}

// Retry-After of every length, and values that are none: the site is not asked before its time is over, up to a day, and nothing is lost.
func TestOutage_retryAfterOfEveryLengthIsObeyed(t *testing.T) {
	for value, least := range map[string]time.Duration{
		"1": time.Second, "120": 2 * time.Minute, "3600": time.Hour, "86400": 24 * time.Hour, "2592000": 24 * time.Hour, "soon": 0, "-5": 0,
		"Sat, 01 Jan 2000 00:40:00 GMT": 39 * time.Minute,
	} {
		t.Run(value, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked time.Time
				o := &outageWeb{sites: 1, pages: 40}
				o.condition = func(_ int, since time.Duration) condition {
					switch {
					case since < 15*time.Second:
						return condition{}
					case asked.IsZero():
						asked = time.Now()
						return condition{status: 503, head: "Retry-After: " + value + "\r\n"}
					case time.Since(asked) < least:
						t.Errorf("asked again after %v", time.Since(asked))
					}
					return condition{}
				}
				o.begin()
				rig, cfg := o.config(t)
				r, stalls := o.untilEnd(t, rig, cfg)
				o.complete(t, r)
				if within := least <= time.Hour; within && stalls > 0 || !within && stalls == 0 {
					t.Errorf("it stalled %d times", stalls)
				}
			})
		})
	}
}

// A site that has answered and fails for seven days is given up: each URL has its outcome and its line, whatever kills there were.
func TestGiveUp_afterSevenDaysLeavesALineForEachURL(t *testing.T) {
	for _, pages := range []int{5000, 60} {
		synctest.Test(t, func(t *testing.T) {
			o := &outageWeb{sites: 2, pages: pages, condition: lasting(condition{refused: true}, 15*time.Second, 1)}
			o.begin()
			rig, cfg := o.config(t)
			cfg.StallWait = 30 * 24 * time.Hour
			cfg.SyncEvery, cfg.ReportEvery, cfg.Checkpoint = time.Minute, time.Hour, time.Hour
			r := o.crawl(t, rig, cfg, rig.FS)
			took := time.Since(o.began)
			if r.State != engine.StateFinished || r.URLsQueued != 0 || r.Outcomes["given-up"] < int64(pages-5) || took < 7*24*time.Hour || took > 8*24*time.Hour {
				t.Errorf("%s: %s after %v: %v", r.State, r.Reason, took, r.Outcomes)
			}
			if lines := logLines(t, rig.FS, outageHost(1)); len(lines) != pages {
				t.Errorf("%d of %d URLs have a final line", len(lines), pages)
			}
		})
	}
}

// A crawl that waits for its site is killed ten times at random moments: the site keeps its queue each time.
func TestStall_killedWhileItWaitsLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(*firstSeed, 5))
		o := &outageWeb{sites: 3, pages: 40, condition: lasting(condition{refused: true}, 60*time.Second)}
		o.begin()
		rig, cfg := o.config(t)
		disk := rig.FS
		for range 10 {
			e := o.engine(t, rig, cfg, disk)
			done := make(chan error, 1)
			go func() { done <- e.Run(t.Context()) }()
			after(time.Duration(rng.Int64N(int64(50 * time.Minute))))
			disk = disk.KillClone()
			e.Abort()
			<-done
			_ = e.Close() // it is dead
		}
		r := o.crawl(t, rig, cfg, disk)
		if r.State != engine.StateStalled || r.URLsQueued == 0 || r.URLsAdmitted != 120 {
			t.Errorf("%s: %s, admitted %d: %v", r.State, r.Reason, r.URLsAdmitted, r.Outcomes)
		}
		o.condition = lasting(condition{}, 0)
		o.complete(t, o.crawl(t, rig, cfg, disk))
	})
}
