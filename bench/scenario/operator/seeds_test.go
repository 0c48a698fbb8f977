package operator

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine/operate/logreport"
)

// While a crawl runs, each seed has its state: fetched, failed, or queued with the reason why it waits.
func TestSeedsHaveTheirStatesWhileTheCrawlRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &testbed.OutageWeb{Sites: 3, Pages: 3, Condition: func(site int, since time.Duration) testbed.Condition {
			switch {
			case site == 1:
				return testbed.Condition{Name: dnsres.ErrNotFound}
			case site == 2 && since < time.Hour:
				return testbed.Condition{Refused: true}
			default:
				return testbed.Condition{}
			}
		}}
		web.Begin()
		rig, cfg := web.Config(t)
		cfg.Limits.StallWait = 3 * time.Hour
		e := web.Engine(t, rig, cfg, rig.FS)
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(time.Minute)
		answer, err := e.Operator().AnswerQuestion(t.Context(), "seeds", map[string][]string{"sort": {"state"}})
		if err != nil {
			t.Fatal(err)
		}
		list := answer.(logreport.SeedList)
		if len(list.Seeds) != 3 {
			t.Fatalf("%+v", list)
		}
		for i, want := range []logreport.Seed{
			{URL: "http://s0001.test/", State: logreport.SeedFailed, Outcome: "name-not-found"},
			{URL: "http://s0002.test/", State: logreport.SeedQueued, Outcome: "queued"},
			{URL: "http://s0000.test/", State: logreport.SeedFetched, Outcome: "ok"},
		} {
			if s := list.Seeds[i]; s.URL != want.URL || s.State != want.State || s.Outcome != want.Outcome {
				t.Errorf("%d: %+v, want %+v", i, s, want)
			}
		}
		if s := list.Seeds[1]; s.WaitsFor == "" || list.Seeds[0].WaitsFor != "" {
			t.Errorf("%+v waits for nothing", s)
		} else {
			t.Log(s.WaitsFor)
		}
		e.Operator().Stop()
		testbed.WaitEnd(t, rig, e, done)
		web.Open.Wait()
	})
}
