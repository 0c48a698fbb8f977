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
		wait.Go(func() { l.ChangePolicy(func(p *politeness.Policy) { p.HostDelay = time.Hour }) })
		wait.Go(func() { l.ChangePolicy(func(p *politeness.Policy) { p.IPDelay = time.Hour }) })
		wait.Wait()
		if p := l.Policy(); p.HostDelay != time.Hour || p.IPDelay != time.Hour {
			t.Fatalf("one was lost: %v, %v", p.HostDelay, p.IPDelay)
		}
	}
}
