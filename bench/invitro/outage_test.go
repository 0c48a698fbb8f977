package invitro

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simnet"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
)

// during crawls a faulty web, directly or through the proxy, and lets something happen while it runs.
func during(t *testing.T, proxy bool, change func(*engine.Config), happen func(rig *Rig, e *engine.Engine)) (*Rig, engine.Config, engine.Report) {
	t.Helper()
	return duringIn(t, smallWorld(*firstSeed+400, simweb.Faulty()), proxy, change, happen)
}

// duringIn is during in a web of one's own.
func duringIn(
	t *testing.T, world simweb.Config, proxy bool, change func(*engine.Config), happen func(rig *Rig, e *engine.Engine),
) (*Rig, engine.Config, engine.Report) {
	t.Helper()
	rig, err := NewRig(world, proxy)
	if err != nil {
		t.Fatal(err)
	}
	cfg := rig.Config()
	change(&cfg)
	e, err := engine.Open(cfg, rig.Seams(rig.FS))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	happen(rig, e)
	return rig, cfg, ended(t, rig, e, done)
}

// ended waits until a crawl that runs has come to its end, closes it and its network, and gives its report, which adds up.
func ended(t *testing.T, rig *Rig, e *engine.Engine, done <-chan error) engine.Report {
	t.Helper()
	if err := <-done; err != nil {
		t.Fatalf("Run: %v", err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	checkBalance(t, r)
	return r
}

// nobodyBlamed wants all outcomes to be what the sites themselves said.
func nobodyBlamed(t *testing.T, r engine.Report) {
	t.Helper()
	for name, n := range r.Outcomes {
		if name != "ok" && name != "redirect" && name != "client-error" && name != "name-not-found" && name != "robots-denied" {
			t.Errorf("%d times %s: somebody was blamed", n, name)
		}
	}
}

// sound fails the test if the oracle complains.
func sound(t *testing.T, rig *Rig, cfg engine.Config, p simweb.Promise) simweb.Verdict {
	t.Helper()
	v, err := rig.Judge(p, rig.FS)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Sound() {
		v.Print(t.Output())
		t.Errorf("the oracle complains about a crawl with %d fetchers", cfg.Fetchers)
	}
	return v
}

// after waits in virtual time.
func after(d time.Duration) { <-time.After(d) }

func TestCrawl_withoutAProxyNamesAndAddressesAreRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, false, unchanged, func(*Rig, *engine.Engine) {})
		sound(t, rig, cfg, promise(cfg))
		if report.Outcomes["name-not-found"] == 0 {
			t.Errorf("no host without an address was met: %v", report.Outcomes)
		}
	})
}

func TestHostile_D03_anOutageOfTheNameServersPostponesAndBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, false, func(c *engine.Config) { c.StallWait = 20 * time.Minute }, func(rig *Rig, e *engine.Engine) {
			after(3 * time.Second)
			rig.Net.SetDNS(false)
			after(10 * time.Minute)
			if w := e.Report().Waiting; w != "the name servers: none of them answers" {
				t.Errorf("it waits for %s", w)
			}
			rig.Net.SetDNS(true)
		})
		sound(t, rig, cfg, promise(cfg))
		if report.Outcomes["name-fault"] > 0 {
			t.Errorf("hosts were given up: %v", report.Outcomes)
		}
		for _, line := range []string{"no name server answers", "the name servers answer again"} {
			if n := strings.Count(rig.Said.String(), line); n != 1 {
				t.Errorf("%q was said %d times", line, n)
			}
		}
	})
}

// goesOn resumes a crawl that has stalled, on a network that is well again, and wants its end.
func goesOn(t *testing.T, rig *Rig, cfg engine.Config, before engine.Report) {
	t.Helper()
	if before.State != engine.StateStalled || before.URLsQueued == 0 || before.Trouble == nil || before.Trouble.URLs < before.URLsQueued {
		t.Fatalf("%s: %s, %d queued, %v, %+v", before.State, before.Reason, before.URLsQueued, before.Outcomes, before.Trouble)
	}
	for _, site := range before.Trouble.List {
		if site.Why == "" || site.Why == "none" || site.URLs == 0 {
			t.Errorf("a site in trouble: %+v", site)
		}
	}
	rig.Connect()
	r, err := rig.Crawl(t.Context(), cfg, rig.FS)
	if err = errors.Join(err, rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	checkBalance(t, r)
	if r.State != engine.StateFinished || r.URLsQueued != 0 || r.Trouble != nil {
		t.Errorf("resumed: %s: %s %v", r.State, r.Reason, r.Outcomes)
	}
	sound(t, rig, cfg, promise(cfg))
}

func TestOutage_ofTheProxyStallsTheCrawlAndCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, true, unchanged, func(rig *Rig, _ *engine.Engine) {
			after(20 * time.Second)
			rig.Net.SetProxy(simnet.Refused)
		})
		goesOn(t, rig, cfg, report)
	})
}

func TestOutage_ofAHostThatHasAnsweredStallsTheCrawlAndCostsNothing(t *testing.T) {
	for _, state := range []simnet.State{simnet.Refused, simnet.BlackHole, simnet.Reset} {
		synctest.Test(t, func(t *testing.T) {
			// In this web all sites of the host's address have answered by then. One that has not would be given up.
			rig, cfg, report := duringIn(t, smallWorld(401, simweb.Faulty()), false, unchanged, func(rig *Rig, _ *engine.Engine) {
				after(10 * time.Second)
				rig.Net.SetHost(rig.World.Host(0), state)
			})
			goesOn(t, rig, cfg, report)
		})
	}
}

func TestPause_nothingIsAskedUntilResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, _ := during(t, true, unchanged, func(rig *Rig, e *engine.Engine) {
			after(10 * time.Second)
			e.Pause()
			after(5 * time.Minute) // what was under way has ended
			before := rig.Log.Len()
			after(time.Hour)
			if got := rig.Log.Len(); got != before {
				t.Errorf("%d requests during the pause", got-before)
			}
			if r := e.Report(); r.State != engine.StatePaused {
				t.Errorf("state %s", r.State)
			}
			e.Resume()
		})
		sound(t, rig, cfg, promise(cfg))
	})
}

func TestDiskFull_pausesAndGoesOnByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, true, unchanged, func(rig *Rig, e *engine.Engine) {
			after(15 * time.Second)
			rig.FS.SetLimit(1)
			after(10 * time.Minute)
			if r := e.Report(); r.State != engine.StatePaused || r.Reason != "disk full" {
				t.Errorf("on a full disk: %s: %s", r.State, r.Reason)
			}
			rig.FS.SetLimit(1 << 40)
		})
		sound(t, rig, cfg, promise(cfg))
		if report.State != engine.StateFinished {
			t.Errorf("%s: %s", report.State, report.Reason)
		}
	})
}

func TestE1_everyAdmittedURLEndsInOneOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, true, func(c *engine.Config) { c.MaxPerHost, c.MaxDepth = 3, 1 }, func(_ *Rig, e *engine.Engine) {
			for range 20 { // and while it runs nothing is counted twice
				after(5 * time.Second)
				if r := e.Report(); r.URLsQueued < 0 || r.URLsInFlight < 0 {
					t.Errorf("queued %d, in flight %d", r.URLsQueued, r.URLsInFlight)
				}
			}
		})
		if report.URLsQueued != 0 || report.Outcomes["quota-host"] == 0 || report.Dropped["depth"] == 0 {
			t.Errorf("queued %d, outcomes %v, dropped %v", report.URLsQueued, report.Outcomes, report.Dropped)
		}
		p := promise(cfg)
		p.MaxPerHost, p.Partial = 3, true
		sound(t, rig, cfg, p)
	})
}
