package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
)

// A crawl that gave URLs up is finished, and not simply complete: its reason has how many URLs, of how many sites, and
// where they are listed. The last URL that was tried of each site has the outcome of that try.
func TestEnding_namesTheURLsThatWereGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &testbed.OutageWeb{Sites: 3, Pages: 40, Condition: testbed.Lasting(testbed.Condition{Refused: true},
			15*time.Second, 1, 2)}
		o.Begin()
		rig, cfg := o.Config(t)
		cfg.Limits.GiveUp = 3 * time.Hour
		cfg.Limits.StallWait = 24 * time.Hour
		r := o.Crawl(t, rig, cfg, rig.FS)
		want := "complete, except 72 URLs of 2 sites that failed for longer than --give-up: outcome given-up in " +
			"logs/crawl.log"
		if r.State != lifecycle.Finished || r.Reason != want || r.Outcomes["given-up"] != 72 {
			t.Errorf("%s: %s: %v", r.State, r.Reason, r.Outcomes)
		}
		if again := o.Crawl(t, rig, cfg, rig.FS); again.State != lifecycle.Finished || again.Reason != want {
			t.Errorf("run again: %s: %s", again.State, again.Reason)
		}
	})
}

// A site that refuses five connections before it has ever answered is given up. The waits are 10 s, 1, 5 and 15 min,
// each up to a quarter longer.
func TestEnding_ofASiteThatNeverAnsweredComesAfterItsTries(t *testing.T) {
	for name, c := range map[string]struct {
		bad         testbed.Condition
		healthy     int // sites beside it: without an answer at all a crawl ends sooner
		reason      string
		least, most time.Duration
		waiting     string
	}{
		"refused": {testbed.Condition{Refused: true}, 1, "complete", 21*time.Minute + 10*time.Second,
			26*time.Minute + 30*time.Second, "(http://s0000.test: refused)"},
		"503": {testbed.Condition{Status: 503}, 0, "1 of 1 robots-unreachable", 30 * time.Minute, time.Hour,
			"(http://s0000.test: robots-unreachable)"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				synctest.Test(t, func(t *testing.T) {
					o := &testbed.OutageWeb{Sites: 1 + c.healthy, Pages: 1, Condition: testbed.Lasting(c.bad, 0, 0)}
					o.Begin()
					rig, cfg := o.Config(t)
					e := o.Engine(t, rig, cfg, rig.FS)
					done := make(chan error, 1)
					go func() { done <- e.Run(t.Context()) }()
					testbed.Wait(10 * time.Minute)
					if said := e.Report().Waiting; !strings.Contains(said, c.waiting) ||
						!strings.HasPrefix(said, "1 site that has never answered, with 1 URL (") ||
						!strings.Contains(said, "; it is given up after its tries, by about ") {
						t.Errorf("it waits for %s", said)
					}
					if err := <-done; err != nil {
						t.Error(err)
					}
					r := e.Report()
					if err := e.Close(); err != nil {
						t.Error(err)
					}
					took := time.Since(o.Began)
					if !strings.Contains(r.Reason, c.reason) || took < c.least || took > c.most {
						t.Errorf("%s after %v: %s", r.State, took, r.Reason)
					}
				})
			}
		})
	}
}
