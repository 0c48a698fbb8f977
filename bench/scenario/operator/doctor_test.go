package operator

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/doctor"
	"orbweaver/engine/operator"
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

// A crawl with long delays is limited by politeness, a paused one by its operator, and one whose disk is slow by that.
func TestDoctorNamesWhatLimitsACrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		testbed.CrawlDuring(t, true, testbed.NoChange, func(_ *testbed.Rig, e *engine.Engine) {
			set(t, e, "host-delay", "1m")
			testbed.Wait(20 * time.Second)
			if first := diagnoses(t, e)[0]; first.Cause != doctor.Politeness {
				t.Errorf("with long delays: %+v", first)
			}
			e.Operator().Pause()
			if first := diagnoses(t, e)[0]; first.Cause != doctor.Paused {
				t.Errorf("while paused: %+v", first)
			}
			e.Operator().Resume()
			set(t, e, "host-delay", "1s")
		})
	})
}
