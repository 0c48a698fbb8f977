//go:build scenario

package storage

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// dialLog notes when each address was connected to.
type dialLog struct {
	fetch.Dialer
	mu          sync.Mutex
	first, last map[string]time.Time
}

func (d *dialLog) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	if _, met := d.first[addr]; !met {
		d.first[addr] = time.Now()
	}
	d.last[addr] = time.Now()
	d.mu.Unlock()
	return d.Dialer.DialContext(ctx, network, addr)
}

const clockDelay = time.Minute

// clockRun crawls on a disk, beginning at a wall time so long after the bubble's own, until stop (0: to its end). It
// gives how long before its end each address was last asked, and how long after its beginning each was asked first.
func clockRun(t *testing.T, disk *vfs.Mem, wall, stop time.Duration, boot lifecycle.Boot, kill bool) (left *vfs.Mem,
	before, after map[string]time.Duration, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		<-time.After(wall)
		world := testbed.SmallWorld(*testbed.FirstSeed+980, simweb.Plain())
		world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax, world.Robots = 6, 6, 6, 8, simweb.Robots{}
		rig := testbed.MustRig(t, world, false)
		cfg := rig.Config()
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay, cfg.Intervals.Checkpoint = clockDelay, clockDelay, 7*time.Second
		cfg.Limits.StallWait = 10 * time.Minute
		dials := &dialLog{Dialer: rig.Net, first: map[string]time.Time{}, last: map[string]time.Time{}}
		seams := rig.Seams(disk)
		seams.Dialer, seams.Boot = dials, boot
		began := time.Now()
		e, err := engine.Open(cfg, seams)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		left = disk
		if stop > 0 {
			<-time.After(stop)
			if kill {
				left = disk.KillClone()
			}
			dials.mu.Lock()
			before = map[string]time.Duration{}
			for addr, at := range dials.last {
				before[addr] = time.Since(at)
			}
			dials.mu.Unlock()
			cancel()
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if r := e.Report(); stop == 0 && (r.State != lifecycle.Finished || r.Outcomes["given-up"] > 0) {
			t.Errorf("%s: %s %v", r.State, r.Reason, r.Outcomes)
		}
		took = time.Since(began)
		after = map[string]time.Duration{}
		for addr, at := range dials.first {
			after[addr] = at.Sub(began)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
	})
	return left, before, after, took
}

// Between two runs the wall clock is set, an hour or ten years, to either side. However that is, no address is asked
// sooner than its delay after it was asked last, and no address waits for longer than a delay: where the system has a
// clock that cannot be set, time that has passed is taken off.
func TestHostile_S13_aWallClockThatIsSetBetweenTwoRunsNeitherHastensNorStopsTheCrawl(t *testing.T) {
	const year = 365 * 24 * time.Hour
	const pause = 20 * time.Second // between the runs
	for _, c := range testbed.Sample([]struct {
		name   string
		before time.Duration // of the bubble's beginning
		after  time.Duration
	}{
		{"as it goes", year, year + 63*time.Second + pause},
		{"an hour back", year, year - time.Hour},
		{"an hour on", year, year + time.Hour},
		{"ten years back", 12 * year, 2 * year},
		{"ten years on", 2 * year, 12 * year},
	}) {
		for _, kill := range []bool{false, true} {
			for _, boot := range []string{"", "same", "other"} {
				if kill && boot == "same" {
					continue // the journal does not count what has passed
				}
				t.Run(fmt.Sprintf("%s, killed %v, boot %s", c.name, kill, boot), func(t *testing.T) {
					const stop = 63 * time.Second
					clocks := [2]lifecycle.Boot{}
					if boot != "" {
						start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of every bubble
						clocks[0] = func() (string, time.Duration) { return "same", time.Hour + time.Since(start) - c.before }
						clocks[1] = func() (string, time.Duration) {
							if up := time.Since(start) - c.after; boot == "same" {
								return boot, time.Hour + stop + pause + up
							} else {
								return boot, pause + up // the machine was started again
							}
						}
					}
					disk, before, _, _ := clockRun(t, vfs.NewMem(1), c.before, stop, clocks[0], kill)
					_, _, after, took := clockRun(t, disk, c.after, 0, clocks[1], false)
					met := 0
					for addr, first := range after {
						ago, asked := before[addr]
						if !asked {
							continue
						}
						met++
						if gap := ago + pause + first; gap < clockDelay {
							t.Errorf("%s is asked %v after it was asked last", addr, gap)
						} else if gap > 2*clockDelay+pause+7*time.Second {
							t.Errorf("%s is asked only %v after it was asked last", addr, gap)
						}
						if boot == "same" && !kill && ago+pause+first > max(clockDelay, ago+pause)+5*time.Second {
							t.Errorf("%s is asked only %v after it was asked last: the pause does not count", addr,
								ago+pause+first)
						}
					}
					if met == 0 {
						t.Error("no address is met again: the test tests nothing")
					}
					if took > time.Hour {
						t.Errorf("the rest of the crawl took %v", took)
					}
				})
			}
		}
	}
}
