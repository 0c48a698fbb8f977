package operator

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/warc/lookup"
)

// While a crawl runs, its index has the captures of the file that is still open.
func TestCapturesAreFoundWhileTheCrawlRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &testbed.OutageWeb{Sites: 3, Pages: 3, Condition: func(int, time.Duration) testbed.Condition {
			return testbed.Condition{}
		}}
		web.Begin()
		rig, cfg := web.Config(t)
		e := web.Engine(t, rig, cfg, rig.FS)
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(10 * time.Second)
		found := 0
		key, _, err := lookup.KeyOf([]byte("http://s0001.test/"))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Operator().Captures.Scan(t.Context(), lookup.Exact(key), func([]byte) error {
			found++
			return nil
		}); err != nil || found != 1 {
			t.Errorf("%d captures, %v", found, err)
		}
		e.Operator().Stop()
		testbed.WaitEnd(t, rig, e, done)
		web.Open.Wait()
	})
}
