package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/doctor"
	"orbweaver/engine/operate/operator"
	"orbweaver/internal/simweb"
)

// diagnoses asks a crawl what limits it.
func diagnoses(t *testing.T, e *engine.Engine) []doctor.Diagnosis {
	t.Helper()
	answer, err := e.Operator().AnswerQuestion(t.Context(), "doctor", nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer.(operator.Diagnoses).Diagnoses
}

// Servers that share a few addresses answer slowly. While no site can be asked, doctor says so, as the line "waiting"
// does: the sites of an address with an exchange under way are not due.
func TestDoctorAgreesWithWaitingWhileAnswersAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(3, simweb.Plain())
		world.Hosts, world.IPs, world.Latency = 40, 4, 6*time.Second
		change := func(c *engine.Config) {
			c.Workers.Fetchers, c.Politeness.HostDelay, c.Politeness.IPDelay = 8, time.Second, 5*time.Second
		}
		testbed.CrawlWebDuring(t, world, true, change, func(_ *testbed.Rig, e *engine.Engine) {
			asked := 0
			for range 60 {
				testbed.Wait(1700 * time.Millisecond)
				waiting := e.Report().Waiting
				if !strings.HasPrefix(waiting, "politeness: ") {
					continue
				}
				asked++
				if first := diagnoses(t, e)[0]; first.Cause != doctor.Politeness {
					t.Errorf("waiting: %s\ndoctor: %+v", waiting, first)
					return
				}
			}
			if asked < 10 {
				t.Errorf("the crawl waited for politeness %d times", asked)
			}
		})
	})
}
