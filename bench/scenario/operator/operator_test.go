package operator

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/lifecycle"
)

// Ten thousand times an operator pauses the crawl, resumes it or changes a setting, a hundred of them at once. No call
// waits for ever; each change is made or found made, one after the other; and what was said last holds, for all
// settings.
func TestHostile_A05_pausesAndSettingsAtOnceAreOneAfterTheOther(t *testing.T) {
	const operators, times = 100, 100
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, true, testbed.NoChange, func(rig *testbed.Rig, e *engine.Engine) {
			testbed.Wait(3 * time.Second)
			var paused, resumed atomic.Int64
			var wait sync.WaitGroup
			for i := range operators {
				wait.Go(func() {
					for j := range times {
						switch (i + j) % 4 {
						case 0, 2:
							if e.Operator().Pause() {
								paused.Add(1)
							}
						case 1:
							if e.Operator().Resume() {
								resumed.Add(1)
							}
						default:
							set(t, e, []string{"host-delay", "ip-delay"}[i%2], "4s")
						}
						if j%10 == 0 {
							testbed.Wait(time.Duration(i) * time.Millisecond)
						}
					}
				})
			}
			wait.Wait()
			if n := paused.Load() - resumed.Load(); n != 0 && n != 1 || (n == 1) != (e.Report().State == lifecycle.Paused) ||
				paused.Load() < 2 {
				t.Errorf("%d pauses, %d ends of one, and it is %s", paused.Load(), resumed.Load(), e.Report().State)
			}
			if err := testbed.Set(t, e, "fetch", "hots == 1"); err == nil {
				t.Error("a filter that is none is taken")
			}
			e.Operator().Pause()
			testbed.Wait(time.Minute) // what was under way has ended
			before := rig.Log.Len()
			testbed.Wait(10 * time.Minute)
			if n := rig.Log.Len() - before; n > 0 || e.Report().State != lifecycle.Paused {
				t.Errorf("%d requests after the last pause", n)
			}
			e.Operator().Resume()
			testbed.Wait(10 * time.Second)
			if e.Report().State != lifecycle.Running || rig.Log.Len() == before {
				t.Errorf("%s after the last resume", e.Report().State)
			}
		})
		if report.State != lifecycle.Finished {
			t.Errorf("%s: %s", report.State, report.Reason)
		}
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
	})
}

func set(t *testing.T, e *engine.Engine, key, value string) {
	t.Helper()
	if err := testbed.Set(t, e, key, value); err != nil {
		t.Error(err)
	}
}

// Very many URLs are posted, most of them bad: they are taken one by one as the sieve has room, which is flushed
// meanwhile; of the mistakes the first are told, and how many more there are; and what was taken is in the checkpoint
// that the answer waited for.
func TestHostile_A03_veryManyURLsAreTakenAsThereIsRoom(t *testing.T) {
	const good, bad = 60_000, 40_000
	synctest.Test(t, func(t *testing.T) {
		testbed.CrawlDuring(t, true, func(c *engine.Config) { c.Sieve.BucketBytes, c.Limits.MaxPages = 1<<16, 30 },
			func(rig *testbed.Rig, e *engine.Engine) {
				before := e.Report()
				host, read := rig.World.Host(0), 0
				result, err := e.Operator().AddURLs(t.Context(), func(yield func(string) bool) {
					for i := range good + bad {
						read++
						url := fmt.Sprintf("http://%s/posted/%d", host, i)
						if i%5 < 2 {
							url = fmt.Sprintf("nonsense %d", i)
						}
						if !yield(url) {
							return
						}
					}
				})
				added := result.Count() - result.Refused
				if added == good {
					refused := result.RefusedError().Error()
					if err != nil || !strings.Contains(refused, "and 39980 more") || len(refused) > 4000 {
						t.Errorf("it says %.300s, and the error %v", refused, err)
					}
				} else if err == nil || !strings.Contains(err.Error(), "is stopping") {
					t.Errorf("%d added, and it says %.300v", added, err)
				}
				r := e.Report()
				if found := r.URLsFound - before.URLsFound; found < int64(added) {
					t.Errorf("%d URLs met, %d added", found, added)
				}
				view, verr := inspect.Open(rig.FS, "crawl")
				if verr != nil {
					t.Fatal(verr)
				}
				if view.Counters.URLsFound < int64(added) {
					t.Errorf("the checkpoint knows of %d URLs, %d were added", view.Counters.URLsFound, added)
				}
				t.Logf("%d of %d added, %d read", added, good, read)
			})
	})
}
