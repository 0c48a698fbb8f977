package operator

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
)

// withoutStallWait crawls with --stall-wait 0s, from the directory of an earlier run if there is one.
func withoutStallWait(t *testing.T, o *testbed.OutageWeb, rig *testbed.Rig, cfg engine.Config) lifecycle.State {
	t.Helper()
	cfg.Limits.StallWait = -1 // 0s on the command line
	return o.Crawl(t, rig, cfg, rig.FS).State
}

// With --stall-wait 0s a crawl stops as soon as all sites fail, and no sooner: a site that was not asked yet does not
// fail. So a healthy crawl is complete.
func TestStallWait_ofZeroLetsAHealthyCrawlFinish(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: 3, Pages: 5, Condition: testbed.Lasting(testbed.Condition{}, 0)}
			o.Begin()
			rig, cfg := o.Config(t)
			if state := withoutStallWait(t, o, rig, cfg); state != lifecycle.Finished || len(o.Served) != 15 {
				t.Errorf("%s with %d pages", state, len(o.Served))
			}
		})
	}
}

// A crawl that has stalled asks each of its failing sites when it is resumed, whatever its stall wait: the sites may be
// well again. If they are not, it stalls again at once.
func TestStallWait_ofZeroTriesEachFailingSiteInAResume(t *testing.T) {
	for name, bad := range map[string]testbed.Condition{
		"refused": {Refused: true}, "503": {Status: 503}, "no answer of the name servers": {Name: dnsres.ErrServer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: 2, Pages: 5, Condition: testbed.Lasting(bad, 0)}
				o.Begin()
				rig, cfg := o.Config(t)
				for run := range 2 {
					began, tried := time.Now(), o.Tried
					state := withoutStallWait(t, o, rig, cfg)
					if took := time.Since(began); state != lifecycle.Stalled || took > time.Minute+30*time.Second {
						t.Fatalf("run %d: %s after %v", run, state, took)
					}
					if bad.Name == nil && o.Tried < tried+2 {
						t.Errorf("run %d: %d connections for 2 sites", run, o.Tried-tried)
					}
					testbed.Wait(time.Second)
				}
				o.Condition = testbed.Lasting(testbed.Condition{}, 0)
				if state := withoutStallWait(t, o, rig, cfg); state != lifecycle.Finished || len(o.Served) != 10 {
					t.Errorf("after the sites came back: %s with %d pages", state, len(o.Served))
				}
			})
		})
	}
}
