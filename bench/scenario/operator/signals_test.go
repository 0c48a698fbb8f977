package operator

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

// A server that answers a byte every ten seconds for an hour is waited for, but no longer than 30 seconds: then the
// crawl is saved, with its URL, and can go on.
func TestHostile_S14_theFirstSignalWaitsForHalfAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := testbed.HostWithRobots(0, testbed.AlwaysRespond(404, "", ""))
		s := &testbed.ScriptedHosts{Counts: map[string]int{},
			Hosts: map[string]testbed.Responder{testbed.FirstHost: func(path string, n int, c net.Conn) {
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
		rig := testbed.MustRig(t, testbed.SmallWorld(1, simweb.Plain()), false)
		rig.Seeds = []string{"http://" + testbed.FirstHost + "/"}
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
		s.Done.Wait()
		if end, _ := ctx.Deadline(); stopped.Sub(end) < 29*time.Second || stopped.Sub(end) > 31*time.Second {
			t.Errorf("it ended %v after the signal", stopped.Sub(end))
		}
		if r.State != lifecycle.Stopped || r.URLsQueued != 1 || r.URLsInFlight != 0 {
			t.Errorf("%s: %d queued, %d in flight", r.State, r.URLsQueued, r.URLsInFlight)
		}
		testbed.CheckConservation(t, r)
		c := testbed.FsckReadOnly(t, rig.FS)
		testbed.WantSound(t, &c)
	})
}
