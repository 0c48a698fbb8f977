package invitro

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
)

// A server that answers a byte every ten seconds for an hour is waited for, but no longer than 30 seconds: then the crawl is saved, with
// its URL, and can go on.
func TestHostile_S14_theFirstSignalWaitsForHalfAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := withRobots(0, always(404, "", ""))
		s := &strangers{counts: map[string]int{}, hosts: map[string]stranger{one: func(path string, n int, c net.Conn) {
			if path == "/robots.txt" {
				slow(path, n, c)
				return
			}
			for range 360 {
				if _, err := c.Write([]byte("H")); err != nil {
					return
				}
				<-time.After(10 * time.Second)
			}
		}}}
		rig, err := NewRig(smallWorld(1, simweb.Plain()), false)
		if err != nil {
			t.Fatal(err)
		}
		rig.Seeds = []string{"http://" + one + "/"}
		cfg := rig.Config()
		cfg.Fetch.HeaderTimeout, cfg.Fetch.TotalTimeout = time.Hour, time.Hour
		seams := rig.Seams(rig.FS)
		seams.Dialer, seams.Resolver = s, s
		e, err := engine.Open(cfg, seams)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
		stopped := time.Now()
		r := e.Report()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		s.done.Wait()
		if end, _ := ctx.Deadline(); stopped.Sub(end) < 29*time.Second || stopped.Sub(end) > 31*time.Second {
			t.Errorf("it ended %v after the signal", stopped.Sub(end))
		}
		if r.State != engine.StateStopped || r.URLsQueued != 1 || r.URLsInFlight != 0 {
			t.Errorf("%s: %d queued, %d in flight", r.State, r.URLsQueued, r.URLsInFlight)
		}
		checkBalance(t, r)
		c := examine(t, rig.FS)
		wantSound(t, &c)
	})
}
