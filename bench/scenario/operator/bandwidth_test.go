package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/doctor"
)

// A crawl that is limited by its bandwidth says so, and goes on at full speed when the operator lifts the limit.
func TestBandwidthIsNamedAndChangesWhileTheCrawlRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		testbed.CrawlDuring(t, true, func(c *engine.Config) {
			c.Limits.Bandwidth.Total = 2 << 10
		}, func(_ *testbed.Rig, e *engine.Engine) {
			testbed.Wait(20 * time.Second)
			if first := diagnoses(t, e)[0]; first.Cause != doctor.Bandwidth || !strings.Contains(first.Text, "2KiB/s") {
				t.Errorf("%+v", first)
			}
			if waiting := e.Report().Waiting; waiting != "bandwidth: the limit of 2KiB/s is reached (--bandwidth)" {
				t.Errorf("%q", waiting)
			}
			received := e.Report().BytesReceived
			set(t, e, "bandwidth", "0")
			testbed.Wait(20 * time.Second)
			if now := e.Report().BytesReceived; now-received < 100<<10 {
				t.Errorf("%d bytes in 20 s without a limit", now-received)
			}
			if first := diagnoses(t, e)[0]; first.Cause == doctor.Bandwidth {
				t.Errorf("%+v", first)
			}
			if testbed.Set(t, e, "bandwidth", "fast") == nil || testbed.Set(t, e, "host-bandwidth", "12") == nil {
				t.Error("a limit that is none was taken")
			}
		})
	})
}
