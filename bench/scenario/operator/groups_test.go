package operator

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
)

const groupDelay = 7 * time.Second

// farmOf returns the rule of a group with these hosts.
func farmOf(hosts []string) string {
	return "group farm: " + strings.Join(hosts, " ") + " delay=" + groupDelay.String()
}

// groupGap gives the shortest time from the end of an answer to the next request, among all hosts of a group as the web
// sees them, and the number of requests.
func groupGap(log *arrivals.Log, group []string) (least time.Duration, asked int) {
	var visits []arrivals.Arrival
	for a := range log.All() {
		if slices.Contains(group, a.Host) {
			visits = append(visits, a)
		}
	}
	slices.SortFunc(visits, func(a, b arrivals.Arrival) int { return a.Time.Compare(b.Time) })
	least = time.Hour
	for i := 1; i < len(visits); i++ {
		least = min(least, visits[i].Time.Sub(visits[i-1].End))
	}
	return least, len(visits)
}

func checkGroup(t *testing.T, log *arrivals.Log, group []string) {
	t.Helper()
	least, asked := groupGap(log, group)
	t.Logf("%d requests to %d hosts, at least %v between two", asked, len(group), least)
	if asked < 3*len(group) || least < groupDelay || least > groupDelay+time.Second {
		t.Errorf("%d requests to %d hosts, %v between two of them", asked, len(group), least)
	}
}

// The hosts of a group, each with its own address or not, are asked one at a time with the delay of the group. The
// other hosts are not held up.
func TestGroups_shareADelayAsTheWebSeesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, rulesWorld(t), true)
		defer rig.Net.Close()
		names := hostsBySize(rig)
		group := names[:2]
		addrs := map[string]bool{}
		for _, name := range group {
			addrs[addrOf(t, rig, name)] = true
		}
		other := names[slices.IndexFunc(names, func(name string) bool { return !addrs[addrOf(t, rig, name)] })]
		cfg := rig.Config()
		cfg.Politeness.IPDelay, cfg.Politeness.HostDelay = 100*time.Millisecond, time.Second
		cfg.Filters.HostRules = rulesOf(t, farmOf(group))
		e, err := engine.Open(cfg, rig.Seams(rig.FS))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(2 * time.Minute)
		checkGroupIsNamed(t, e, addrs)
		r := testbed.WaitEnd(t, rig, e, done)
		if r.State != lifecycle.Finished {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
		checkGroup(t, rig.Log, group)
		least, asked := gapsSeen(rig.Log)
		if asked[other] < 10 || least[other] > 2*time.Second {
			t.Errorf("another host: %d requests, %v between two of them", asked[other], least[other])
		}
	})
}

// addrOf returns the address of a host behind the proxy.
func addrOf(t *testing.T, rig *testbed.Rig, host string) string {
	t.Helper()
	return rig.Seams(rig.FS).Resolver.Resolve(t.Context(), host).Addrs[0].String()
}

// checkGroupIsNamed asks the crawl why the hosts of the group wait: those that it names, and others of their addresses.
func checkGroupIsNamed(t *testing.T, e *engine.Engine, addrs map[string]bool) {
	t.Helper()
	answer, err := e.Operator().AnswerQuestion(t.Context(), "hosts", nil)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, h := range answer.(hosts.List).Hosts {
		if addrs[h.Address] != (h.Group == "farm") {
			t.Errorf("%+v", h)
		}
		for _, w := range h.Waits {
			if w.Reason == hosts.InGroup && strings.Contains(w.Text, "its group farm is shared by") {
				named++
			}
		}
	}
	if named == 0 {
		t.Errorf("no host says that it waits for its group: %+v", answer)
	}
}

// The delay of a group holds over a kill and over an orderly stop, and for hosts that were on disk meanwhile.
func TestGroups_keepTheirDelayOverKillsAndOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.ManyHosts(*testbed.FirstSeed+970, simweb.Plain())
		world.Robots = simweb.Robots{AllowAll: 1}
		rig := testbed.MustRig(t, world, true)
		group := hostsBySize(rig)[:60]
		cfg := rig.Config()
		cfg.Workbench.MemoryMax, cfg.Limits.StallWait, cfg.Intervals.Checkpoint = 16<<10, time.Hour, time.Second
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 40*time.Millisecond, 5*time.Millisecond
		cfg.Cold.SegmentBytes, cfg.Cold.BufferBytes = 4<<10, 1<<10
		cfg.Filters.HostRules = rulesOf(t, farmOf(group))
		disk := rig.FS
		for range 5 {
			disk, _ = testbed.Kill(t, rig, cfg, disk, 3*time.Minute+700*time.Millisecond, testbed.Sigkill)
		}
		r := rig.MustCrawl(t, cfg, disk)
		if r.State != lifecycle.Finished || r.HostsEvicted == 0 {
			t.Errorf("%s: %s; %d hosts to disk", r.State, r.Reason, r.HostsEvicted)
		}
		checkGroup(t, rig.Log, group)
	})
}

// A finished crawl begins again. No host of the group is asked before the delay of the group is over since the last
// exchange of the crawl before.
func TestGroups_keepTheirDelayInANewPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, rulesWorld(t), true)
		defer rig.Net.Close()
		group := hostsBySize(rig) // so that the last request of a pass and the first of the next are to hosts of the group
		cfg := rig.Config()
		cfg.Politeness.IPDelay, cfg.Politeness.HostDelay = 100*time.Millisecond, time.Second
		cfg.Limits.MaxPages = 20 // reached after a request, so no wait follows it
		cfg.Filters.HostRules = rulesOf(t, farmOf(group))
		for range 3 {
			r, err := rig.Crawl(t.Context(), cfg, rig.FS)
			if err != nil || r.State != lifecycle.Finished {
				t.Errorf("%s: %s, %v", r.State, r.Reason, err)
			}
			cfg.Refresh, cfg.Seeds = true, nil
		}
		checkGroup(t, rig.Log, group)
	})
}
