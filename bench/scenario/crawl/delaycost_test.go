package crawl

import (
	"context"
	"flag"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
)

var delayedHosts = flag.Int("hosts", 0, "how many hosts TestDelays waits for; 0 are a few")

// footprint is the goroutines and the live heap of the process.
func footprint() (goroutines int, heap uint64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// Every host asks for an hour between two requests, and has more pages than one. While all of them are waited for there
// is not one goroutine more than before the crawl met the first, nothing grows, and no fetch worker is held: a
// waiting host is an entry in a heap.
func TestDelays_ofAnHourCostNothingWhileTheyAreWaitedFor(t *testing.T) {
	hosts := *delayedHosts
	if hosts == 0 {
		hosts = 3000
		if testbed.Reduced {
			hosts = 100
		}
	}
	synctest.Test(t, func(t *testing.T) {
		world := simweb.Plain()
		world.Seed, world.Hosts, world.IPs = *testbed.FirstSeed+6100, hosts, hosts
		world.PagesPerHostMean, world.PagesPerHostMax, world.PageBytesMean, world.LinksMean = 3, 4, 512, 12
		world.Robots, world.Timing.CrawlDelay = simweb.Robots{CrawlDelay: 1}, time.Hour
		rig := testbed.MustRig(t, world, true)
		rig.Seeds = nil
		for h := range hosts {
			rig.Seeds = append(rig.Seeds, "http://"+rig.World.Host(h)+"/")
		}
		cfg := rig.Config()
		cfg.Politeness.CrawlDelayMax, cfg.Workbench.MemoryMax = 2*time.Hour, 256<<20
		cfg.Workers.Fetchers = 256
		cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Second, time.Minute, 10*time.Minute
		e, err := engine.Open(cfg, rig.Seams(rig.FS))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		<-time.After(time.Millisecond)
		synctest.Wait()
		idle, _ := footprint()
		<-time.After(90 * time.Minute) // all have been asked for robots.txt, and an hour later for a page
		synctest.Wait()
		first := e.Report()
		atFirst, heapAtFirst := footprint()
		<-time.After(20 * time.Minute)
		synctest.Wait()
		later, heapLater := footprint()
		r := e.Report()
		t.Logf("%d hosts known, %d URLs queued, %d requests: %d goroutines, %d at the beginning; heap %d bytes, 20 minutes "+
			"later %d",
			r.HostsKnown, r.URLsQueued, rig.Log.Len(), later, idle, heapAtFirst, heapLater)
		if r.HostsKnown < int64(hosts)*9/10 || r.URLsQueued < int64(hosts)/2 || r.ActiveFetches > 0 {
			t.Errorf("%d hosts are known, %d URLs queued, %d being fetched: %s", r.HostsKnown, r.URLsQueued, r.ActiveFetches,
				r.Waiting)
		}
		if atFirst > idle || later > idle {
			t.Errorf("%d goroutines at the beginning, %d and %d while all hosts are waited for", idle, atFirst, later)
		}
		if r.Attempts != first.Attempts || heapLater > heapAtFirst+heapAtFirst/50 {
			t.Errorf("%d attempts and then %d; heap of %d and then %d bytes", first.Attempts, r.Attempts, heapAtFirst, heapLater)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		p := testbed.Promise(cfg)
		p.Partial = true
		testbed.JudgeSound(t, rig, cfg, p)
	})
}
