package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine/state/lifecycle"
)

// A crawl that can reach none of its seeds fails within five minutes, with the reason. If the system or a name server
// says so, and does not only stay silent, it takes a minute.
func TestUnreached_aCrawlWithoutAnyAnswerFailsSoon(t *testing.T) {
	for name, c := range map[string]struct {
		bad    testbed.Condition
		sites  int
		reason string
		most   time.Duration
	}{
		"refused":           {testbed.Condition{Refused: true}, 1, "1 of 1 refused", time.Minute},
		"many are refused":  {testbed.Condition{Refused: true}, 300, "300 of 300 refused", 90 * time.Second},
		"no connection":     {testbed.Condition{BlackHole: true}, 2, "2 of 2 connect-timeout", 5 * time.Minute},
		"reset":             {testbed.Condition{Reset: true}, 1, "1 of 1 robots-unreachable", 5 * time.Minute},
		"no response":       {testbed.Condition{Silent: true}, 1, "1 of 1 robots-unreachable", 6 * time.Minute},
		"name server fault": {testbed.Condition{Name: dnsres.ErrServer}, 1, "1 of 1 name-fault", 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: c.sites, Pages: 1, Condition: testbed.Lasting(c.bad, 0)}
				o.Begin()
				rig, cfg := o.Config(t)
				cfg.Limits.StallWait = time.Hour
				r := o.Crawl(t, rig, cfg, rig.FS)
				if took := time.Since(o.Began); r.State != lifecycle.Failed || took > c.most {
					t.Errorf("%s after %v, with %d connections: %s", r.State, took, o.Tried, r.Reason)
				}
				if !strings.Contains(r.Reason, c.reason) || r.URLsQueued != 0 {
					t.Errorf("%d queued: %s", r.URLsQueued, r.Reason)
				}
				if c.bad.Name == nil && o.Tried < 3*c.sites {
					t.Errorf("%d connections for %d sites", o.Tried, c.sites)
				}
				o.Condition = testbed.Lasting(testbed.Condition{}, 0)
				if r := o.Crawl(t, rig, cfg, rig.FS); r.State != lifecycle.Finished || len(o.Served) != c.sites {
					t.Errorf("when the sites answer: %s with %d pages: %s", r.State, len(o.Served), r.Reason)
				}
			})
		})
	}
}

// One server that has answered, or that asks to slow down, is enough for the usual patience with the others.
func TestUnreached_isNoCrawlWithAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		sites    int
		hasPages bool
		now      func(site int, since time.Duration) testbed.Condition
	}{
		"one of three answers": {3, true, testbed.Lasting(testbed.Condition{Refused: true}, 0, 1, 2)},
		"503":                  {1, false, testbed.Lasting(testbed.Condition{Status: 503}, 0)},
		"all vanish after their first pages": {2, true,
			testbed.Lasting(testbed.Condition{Refused: true}, 15*time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: c.sites, Pages: 20, Condition: c.now}
				o.Begin()
				rig, cfg := o.Config(t)
				cfg.Limits.StallWait = time.Hour
				r := o.Crawl(t, rig, cfg, rig.FS)
				if took := time.Since(o.Began); took < 15*time.Minute || c.hasPages != (r.PagesStored > 0) {
					t.Errorf("%s after %v with %d pages: %s", r.State, took, r.PagesStored, r.Reason)
				}
			})
		})
	}
}

// The first failure of a seed is in the log at once, with its cause and what to do.
func TestUnreached_warnsOfTheFirstFailureAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &testbed.OutageWeb{Sites: 200, Pages: 1, Condition: testbed.Lasting(testbed.Condition{Refused: true}, 0)}
		o.Begin()
		rig, cfg := o.Config(t)
		o.Crawl(t, rig, cfg, rig.FS)
		first, final := 0, 0
		for line := range strings.Lines(rig.EngineLog.String()) {
			if strings.Contains(line, "a seed could not be fetched") && strings.Contains(line, "outcome=refused") &&
				strings.Contains(line, "connection refused") && strings.Contains(line, "Check that the servers") {
				first++
			}
			if strings.Contains(line, "a seed is not fetched") {
				final++
			}
		}
		if first != 1 || final != 1 {
			t.Errorf("%d warnings of a first failure, %d of a lost seed:\n%s", first, final, rig.EngineLog.String())
		}
	})
}
