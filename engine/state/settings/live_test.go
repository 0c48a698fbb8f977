package settings

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/internal/vfs"
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

// A group of hosts has its own delay, unless that of addresses is longer. All delays together have a longest one.
func TestLive_aGroupHasItsOwnDelay(t *testing.T) {
	rules := new(filter.HostRules)
	_, err := rules.Grow("group farm: .a.test delay=1m", "group yard: .b.test delay=1s")
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := OpenHostRules(vfs.NewMem(1), "frontier", rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := politeness.Default()
	p.HostDelay, p.IPDelay = 4*time.Second, 2*time.Second
	l := NewLive(p, hosts)
	for key, want := range map[netip.Addr]time.Duration{
		politeness.GroupKey("farm"): time.Minute, politeness.GroupKey("yard"): 2 * time.Second,
		netip.MustParseAddr("192.0.2.1"): 2 * time.Second,
	} {
		if got := l.AddrDelay(key); got != want {
			t.Errorf("%v: %v, want %v", key, got, want)
		}
	}
	if got := hosts.LongestDelay(&p); got != time.Minute {
		t.Errorf("the longest delay is %v", got)
	}
}
