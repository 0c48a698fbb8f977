package settings

import (
	"sync"
	"testing"
	"time"

	"orbweaver/engine/politeness"
)

// Two settings changed at the same moment are both in force: none is made of what was before the other.
func TestHostile_A05_settingsChangedAtOnceAllHold(t *testing.T) {
	for range 5000 {
		l := NewLive(politeness.Default(), new(HostRules))
		var wait sync.WaitGroup
		for _, key := range []string{"host-delay", "ip-delay"} {
			wait.Go(func() {
				if err := l.SetDelay(key, time.Hour); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if p := l.Policy(); p.HostDelay != time.Hour || p.IPDelay != time.Hour {
			t.Fatalf("one was lost: %v, %v", p.HostDelay, p.IPDelay)
		}
	}
}
