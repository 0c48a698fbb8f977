package crawl

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/vfs"
)

var (
	politeRequests = flag.Int("requests", 0,
		"how many requests the long crawl of TestPolite makes at least; 0 is a short one")
	politeRestarts = flag.Int("restarts", 10, "how often it is ended on the way")
)

// politeWorld has every fault there is, hosts that ask for longer delays than ours and for longer pauses, and four
// hosts to an address. Its size is such that all of it takes so many requests.
func politeWorld(requests int) simweb.Config {
	c := simweb.Faulty()
	c.Seed = *testbed.FirstSeed + 6000
	c.Hosts = max(24, requests/28)
	c.IPs = max(6, c.Hosts/4)
	c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean, c.LinksMean, c.PageFanout = 30, 120, 512, 12, 6
	c.Timing.HugeBytes, c.Timing.CrawlDelay, c.Timing.RetryAfter = 256<<10, 9*time.Second, 20*time.Second
	c.Robots.Huge = 0.002 // 600 KiB each
	c.Faults.Unavailable, c.Faults.OnceUnavail = 0.02, 0.02
	c.Faults.Huge = 0.001
	return c
}

// How a run ends before the crawl does.
var endings = []string{"stop", "kill", "power cut"}

// forgotten is how many of the last answers before a kill the crawl need not know of: those that were on their way to
// it, and, if the power was cut, those since the last group commit.
func forgotten(log *arrivals.Log, cfg *engine.Config, ending string) (n int) {
	onTheWay := map[string]time.Duration{"stop": 0, "kill": 5 * time.Millisecond,
		"power cut": 5*time.Millisecond + cfg.Intervals.Sync}[ending]
	since := time.Now().Add(-onTheWay)
	for a := range log.All() {
		if a.End.After(since) {
			n++
		}
	}
	return n
}

// TestPolite_underEveryFaultAndAcrossTenRestartsNobodyIsAskedTooSoon crawls a web of faults to its end, while the crawl
// is stopped, killed and robbed of its power on the way. The outside log says when each host and address was asked:
// never sooner than the delay, the Crawl-delay and the Retry-After, never twice at a time, and nothing that robots.txt
// forbids. With -requests=1000000 it is the run of BENCHMARKS.md.
func TestPolite_underEveryFaultAndAcrossTenRestartsNobodyIsAskedTooSoon(t *testing.T) {
	requests := *politeRequests
	if requests == 0 {
		requests = 12_000
		if testbed.Reduced {
			requests = 700
		}
	}
	synctest.Test(t, func(t *testing.T) { politeCrawl(t, requests) })
}

func politeCrawl(t *testing.T, requests int) {
	rig := testbed.MustRig(t, politeWorld(requests), true)
	cfg := rig.Config()
	cfg.Workers.Fetchers, cfg.Workers.Parsers = 32, 2
	cfg.Limits.StallWait = 2 * time.Hour
	cfg.Intervals.Sync = 50 * time.Millisecond
	if requests > 100_000 {
		cfg.Workers.Fetchers = 512
	}
	cfg.Workbench.MemoryMax = 32 << 20
	cfg.Admission.CacheMemory = 8 << 20
	cfg.Sieve.BucketBytes = 8 << 20
	cfg.Seen.MemoryBytes = 64 << 20
	cfg.Intervals.Checkpoint = 20 * time.Second
	rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 77))
	disk, repeats, excused := rig.FS, 0, 0
	began := time.Now()
	for i := range *politeRestarts {
		ending := endings[i%len(endings)]
		left, ended, n := runUntil(t, rig, cfg, disk, requests/(*politeRestarts+1)*(i+1), ending, rng)
		if ended {
			t.Fatalf("the crawl was over after %d requests: the world is too small for %d restarts", rig.Log.Len(),
				*politeRestarts)
		}
		t.Logf("restart %2d: %-9s after %7d requests, %v of the crawl's time; %d answers were on their way", i+1, ending,
			rig.Log.Len(),
			time.Since(began).Round(time.Second), n)
		disk, excused = left, excused+n
		if ending != "stop" {
			repeats += cfg.Workers.Fetchers + n
		}
		runtime.GC()
	}
	report := rig.MustCrawl(t, cfg, disk)
	testbed.CheckConservation(t, report)
	p := testbed.Promise(cfg)
	p.DigestEvery = 100
	v := rig.MustJudge(t, p, disk)
	c := rig.World.Config()
	t.Logf("%d hosts on %d addresses, delays %v and %v, Crawl-delay %v, Retry-After %v: %d requests in %v of the "+
		"crawl's time, "+
		"%d restarts; IPs slowed down %d times; of the last %d answers before kills nothing need be known",
		c.Hosts, c.IPs, p.HostDelay, p.IPDelay, c.Timing.CrawlDelay, c.Timing.RetryAfter, v.Arrivals,
		time.Since(began).Round(time.Second), *politeRestarts, report.IPsSlowed, excused)
	v.Print(t.Output())
	repeated := v.Repeated
	v.Repeated, v.Overlap = 0, 0
	if v.Arrivals < requests || !v.Polite() || !v.Sound() || repeated > repeats || report.State != lifecycle.Finished {
		t.Errorf("%d requests of %d, %d repeated of at most %d: %s %s %v", v.Arrivals, requests, repeated, repeats,
			report.State,
			report.Reason, report.Outcomes)
	}
}

// runUntil lets a crawl run until the web was asked so often, and ends it. It says how many answers were on their way
// then.
func runUntil(t *testing.T, rig *testbed.Rig, cfg engine.Config, disk *vfs.Mem, arrivals int, ending string,
	rng *rand.Rand) (left *vfs.Mem, over bool, lost int) {
	t.Helper()
	e, err := engine.Open(cfg, rig.Seams(disk))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	for rig.Log.Len() < arrivals && !over {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		case <-time.After(time.Second + time.Duration(rng.Int64N(int64(time.Second)))):
		}
	}
	left = disk
	switch {
	case over:
	case ending == "stop":
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	case ending == "kill":
		left = disk.KillClone()
	default:
		left = disk.CrashClone(rng)
	}
	lost = forgotten(rig.Log, &cfg, ending)
	rig.Log.Lose(lost)
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if !over && ending != "stop" {
		e.Abort()
		<-done // whatever it says: it is dead
	}
	if err := e.Close(); err != nil && ending == "stop" {
		t.Error(err)
	}
	rig.Connect()
	return left, over, lost
}
