package invitro

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine"
)

// Ten thousand times an operator pauses the crawl, resumes it or changes a setting, a hundred of them at once. Nobody waits for ever;
// each change is made or found made, one after the other; and what was said last holds, for all settings.
func TestHostile_A05_pausesAndSettingsAtOnceAreOneAfterTheOther(t *testing.T) {
	const operators, times = 100, 100
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, true, unchanged, func(rig *Rig, e *engine.Engine) {
			after(3 * time.Second)
			var paused, resumed atomic.Int64
			var wait sync.WaitGroup
			for i := range operators {
				wait.Go(func() {
					for j := range times {
						switch (i + j) % 4 {
						case 0, 2:
							if e.Pause() {
								paused.Add(1)
							}
						case 1:
							if e.Resume() {
								resumed.Add(1)
							}
						default:
							set(t, e, []string{"host-delay", "ip-delay"}[i%2], "4s")
						}
						if j%10 == 0 {
							after(time.Duration(i) * time.Millisecond)
						}
					}
				})
			}
			wait.Wait()
			if n := paused.Load() - resumed.Load(); n != 0 && n != 1 || (n == 1) != (e.Report().State == engine.StatePaused) || paused.Load() < 2 {
				t.Errorf("%d pauses, %d ends of one, and it is %s", paused.Load(), resumed.Load(), e.Report().State)
			}
			if err := e.Set("fetch", "hots == 1"); err == nil {
				t.Error("a filter that is none is taken")
			}
			e.Pause()
			after(time.Minute) // what was under way has ended
			before := rig.Log.Len()
			after(10 * time.Minute)
			if n := rig.Log.Len() - before; n > 0 || e.Report().State != engine.StatePaused {
				t.Errorf("%d requests after the last pause", n)
			}
			e.Resume()
			after(10 * time.Second)
			if e.Report().State != engine.StateRunning || rig.Log.Len() == before {
				t.Errorf("%s after the last resume", e.Report().State)
			}
		})
		if report.State != engine.StateFinished {
			t.Errorf("%s: %s", report.State, report.Reason)
		}
		sound(t, rig, cfg, promise(cfg))
	})
}

func set(t *testing.T, e *engine.Engine, key, value string) {
	t.Helper()
	if err := e.Set(key, value); err != nil {
		t.Error(err)
	}
}
