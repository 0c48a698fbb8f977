package operator

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/vfs"
)

// rulesWorld is without faults. Five of its hosts are so large that a crawl is in the middle of them when a rule comes.
func rulesWorld(t *testing.T) simweb.Config {
	t.Helper()
	c := testbed.SmallWorld(*testbed.FirstSeed+950, simweb.Plain())
	c.Hosts, c.PagesPerHostMean, c.PagesPerHostMax, c.Robots = 12, 60, 120, simweb.Robots{AllowAll: 1}
	return testbed.DrawWorld(t, c, func(m *simweb.Model) bool { return testbed.HostsBySize(m)[4].Pages >= 40 })
}

// hostsBySize are the names of the hosts, the largest first.
func hostsBySize(rig *testbed.Rig) (names []string) {
	for _, h := range testbed.HostsBySize(rig.World.Model) {
		names = append(names, string(h.AppendName(nil)))
	}
	return names
}

func rulesOf(t *testing.T, lines ...string) *filter.HostRules {
	t.Helper()
	rules := new(filter.HostRules)
	_, err := rules.Grow(lines...)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// gapsSeen gives of each host the shortest time from the end of an answer to the next request, and how many requests it
// got.
func gapsSeen(log *arrivals.Log) (least map[string]time.Duration, asked map[string]int) {
	least, asked = map[string]time.Duration{}, map[string]int{}
	ended := map[string]time.Time{}
	for a := range log.All() {
		if end, again := ended[a.Host]; again {
			if gap := a.Time.Sub(end); least[a.Host] == 0 || gap < least[a.Host] {
				least[a.Host] = gap
			}
		}
		ended[a.Host] = a.End
		asked[a.Host]++
	}
	return least, asked
}

// The outside log sees that a slow host is slow, a fast one fast, one with a cap gets no more than it, and an excluded
// one nothing.
func TestHostRules_delaysAndCapsAreKeptAsTheWebSeesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, rulesWorld(t), true)
		defer rig.Net.Close()
		hosts := hostsBySize(rig)
		away := rig.World.Host(11) // a host by which no other is found
		hosts = slices.DeleteFunc(hosts, func(host string) bool { return host == away })
		slow, fast, capped, other := hosts[0], hosts[1], hosts[2], hosts[3]
		cfg := rig.Config()
		cfg.Politeness.IPDelay = 0
		cfg.Filters.HostRules = rulesOf(t, slow+" host-delay=20s", "."+fast+" host-delay=1s", capped+" max-per-host=5",
			away+" exclude")
		r, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		testbed.CheckConservation(t, r)
		checkDoor(t, r)
		least, asked := gapsSeen(rig.Log)
		perHost := map[string]int{}
		for url := range storedURLs(t, rig.FS) {
			if !strings.HasSuffix(url, "/robots.txt") {
				perHost[hostOf(url)]++
			}
		}
		if asked[slow] < 10 || least[slow] < 20*time.Second || least[slow] > 21*time.Second {
			t.Errorf("the slow host: %d requests, %v between two of them", asked[slow], least[slow])
		}
		if asked[fast] < 10 || least[fast] < time.Second || least[fast] > 2*time.Second {
			t.Errorf("the fast host: %d requests, %v between two of them", asked[fast], least[fast])
		}
		if asked[other] < 5 || least[other] < 4*time.Second {
			t.Errorf("another host: %d requests, %v between two of them", asked[other], least[other])
		}
		if perHost[capped] == 0 || perHost[capped] > 5 || r.Outcomes["quota-host"] == 0 {
			t.Errorf("%d pages of the host with a cap of 5: %v", perHost[capped], r.Outcomes)
		}
		if asked[away] != 0 || r.Dropped["scope"] == 0 {
			t.Errorf("%d requests to the excluded host: %v", asked[away], r.Dropped)
		}
	})
}

// A host that opts out in the middle is asked no more, not even by the run after a kill; what was queued counts as
// blocked. So does a delay that was given live.
func TestHostRules_anExclusionWhileRunningPurgesAndSurvivesAKill(t *testing.T) {
	for _, killed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { excludeInTheMiddle(t, killed) })
	}
}

func excludeInTheMiddle(t *testing.T, killed bool) {
	t.Helper()
	rig := testbed.MustRig(t, rulesWorld(t), true)
	cfg := rig.Config()
	cfg.Workers.SiteItems = 4 // the rest is on disk
	hosts := hostsBySize(rig)
	out, slow := hosts[0], hosts[1]
	e, err := engine.Open(cfg, rig.Seams(rig.FS))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	time.Sleep(time.Minute) //nolint:forbidigo // virtual: a minute of the crawl
	synctest.Wait()
	before := e.Report()
	rules := []string{"." + out + " exclude", slow + " host-delay=15s"}
	if taken, err := e.Operator().HostRule(rules); taken != 2 || err != nil {
		t.Fatal(taken, err)
	}
	since := time.Now()
	synctest.Wait()
	after := e.Report()
	if purged := after.Outcomes["blocked"]; purged < 10 || after.URLsQueued > before.URLsQueued-purged+100 {
		t.Errorf("%d URLs purged at once; %d queued before, %d after", purged, before.URLsQueued, after.URLsQueued)
	}
	disk := rig.FS
	if killed {
		time.Sleep(7 * time.Second) //nolint:forbidigo // virtual: before the next checkpoint
		disk = rig.FS.KillClone()
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		e.Abort()
		<-done
		_ = e.Close()
		rig.Connect()
		if e, err = engine.Open(cfg, rig.Seams(disk)); err != nil {
			t.Fatal(err)
		}
		go func() { done <- e.Run(t.Context()) }()
	}
	r := testbed.WaitEnd(t, rig, e, done)
	checkDoor(t, r)
	if r.Outcomes["blocked"] < 10 || r.URLsQueued != 0 || r.State != lifecycle.Finished {
		t.Errorf("%s, %d queued, outcomes %v", r.State, r.URLsQueued, r.Outcomes)
	}
	checkSince(t, rig.Log, since, out, slow)
	checkKept(t, disk, "."+out+" exclude")
	if !strings.Contains(rig.EngineLog.String(), "host rules taken") ||
		!strings.Contains(rig.EngineLog.String(), "excluded hosts are purged") {
		t.Errorf("the log says nothing of it: %s", rig.EngineLog.String())
	}
	sound := testbed.Fsck(t, disk)
	testbed.WantSound(t, &sound)
	if !killed {
		testbed.Rebuild(t, rig, cfg, disk) // the frontier is made again, and the rules of the operator stay
		checkKept(t, disk, "."+out+" exclude")
	}
}

// checkSince looks at the outside log from the moment of the rules on.
func checkSince(t *testing.T, log *arrivals.Log, since time.Time, out, slow string) {
	t.Helper()
	var last time.Time
	slowAsked := 0
	for a := range log.All() {
		if a.Host == out && a.Time.After(since) {
			t.Errorf("%s was asked %v after it was excluded", a.URL, a.Time.Sub(since))
		}
		if a.Host != slow {
			continue
		}
		if gap := a.Time.Sub(last); last.After(since) && gap < 15*time.Second {
			t.Errorf("%s was asked %v after the request before", a.URL, gap)
		}
		if last = a.End; last.After(since) {
			slowAsked++
		}
	}
	if slowAsked < 3 {
		t.Errorf("the slow host was asked %d times: the test tests nothing", slowAsked)
	}
}

// checkKept sees to it that the rule is in the crawl directory, to be read again.
func checkKept(t *testing.T, disk *vfs.Mem, rule string) {
	t.Helper()
	_, rules, err := settings.ReadHostRules(disk, "crawl/"+layout.FrontierDir)
	if err != nil || !strings.Contains(strings.Join(rules.Texts(), "\n"), rule) {
		t.Errorf("%q, %v", rules.Texts(), err)
	}
}
