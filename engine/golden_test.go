package engine

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"orbweaver/bench/golden"
	"orbweaver/engine/admission"
	"orbweaver/engine/filter"
	"orbweaver/engine/layout"
	"orbweaver/engine/settings"
	"orbweaver/internal/vfs/vfstest"
)

// The seeds and the host rules of an operator are lines of text.
func TestGolden_seedsAndHostRules(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	if _, err := admission.KeepSeeds(disk, "d", seedsOf{"http://A.test/x/../", "http://b.test:8080"}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "seeds-1", "e06538718f1d9bd3453f60a035c7d28852bead61a1a57841dfa04b14c26cc05d", vfstest.ReadAll(t, disk, admission.SeedsFile("d")))
	var none *filter.HostRules
	rules, _, err := none.With(".a.test exclude", "b.test host-delay=4s")
	if err == nil {
		err = settings.WriteHostRules(disk, "d", rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := golden.Compare(t, "host-rules-1", "601e3da0c5bbc6142c91c26190949b0c16ccd6b58518fbfbbdc186c3c6946632", vfstest.ReadAll(t, disk, settings.HostRulesName("d")))
	back, taken, err := none.With(strings.Split(strings.TrimSpace(string(text)), "\n")...)
	if err != nil || taken != 2 || !slices.Equal(back.Texts(), rules.Texts()) {
		t.Errorf("%d rules taken: %q, %v", taken, back.Texts(), err)
	}
}

// report.json has all the names that it had, with values of the same types.
func TestGolden_report(t *testing.T) {
	var r Report
	golden.Fill(&r)
	disk := vfstest.WithDir(t, "d")
	if err := WriteReport(disk, "d", r); err != nil {
		t.Fatal(err)
	}
	names := golden.Names(t, vfstest.ReadAll(t, disk, "d/"+layout.ReportFile))
	if golden.Writing() {
		golden.Add(t, "report-1.txt", []byte(strings.Join(names, "\n")))
	}
	golden.Contains(t, names, strings.Split(string(golden.Read(t, "report-1.txt", "b02e3b051e1f30b6225ed8164e5300270829592a0b42de211374abd8994a9674")), "\n"))
}
