package agents

import (
	"math"
	"strings"
	"testing"

	"orbweaver/internal/simweb/judge"
)

// What faults excuse is excused, and one more is not.
func TestWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     plan
		r     Run
		v     judge.Verdict
		wrong string // "" for nothing
	}{
		{"nothing", plan{scenario: Plain}, Run{}, judge.Verdict{Held: 10, Stored: 10}, ""},
		{"asked twice", plan{scenario: Plain}, Run{Repeated: 1}, judge.Verdict{}, "1 pages asked for again, at most 0"},
		{
			"asked twice after a stop in good order", plan{scenario: Leave}, Run{Repeated: 1}, judge.Verdict{},
			"asked for again",
		},
		{
			"in flight at a kill", plan{scenario: Kill, fetchers: 8}, Run{Kills: 2, Repeated: 32},
			judge.Verdict{Held: 132, Stored: 100}, "",
		},
		{
			"more than that", plan{scenario: Kill, fetchers: 8}, Run{Kills: 2, Repeated: 33}, judge.Verdict{},
			"33 pages asked for again, at most 32",
		},
		{
			"what a disk held", plan{scenario: Lose, fetchers: 8}, Run{Repeated: 50},
			judge.Verdict{Unique: 100, Held: 116, Stored: 100}, "",
		},
		{
			"what the others held", plan{scenario: Lose, fetchers: 8}, Run{Repeated: 50},
			judge.Verdict{Unique: 100, Held: 117, Stored: 100}, "17 pages held twice, at most 16",
		},
		{"missing", plan{scenario: Kill}, Run{}, judge.Verdict{Missing: 1}, "1 pages missing"},
		{"impolite", plan{scenario: Join}, Run{}, judge.Verdict{IPGapViolations: 2, HostConcurrency: 1}, "3 breaches"},
		{"without leave", plan{scenario: Join}, Run{}, judge.Verdict{RobotsViolations: 1}, "1 breaches"},
		{"twice in one archive", plan{scenario: Kill}, Run{}, judge.Verdict{Duplicates: 1}, "twice in one archive"},
		{"altered", plan{scenario: Plain}, Run{}, judge.Verdict{DigestMismatches: 1}, "wrong digests"},
	} {
		r := c.r
		r.Verdict = &c.v
		r.judge(&c.p)
		if said := strings.Join(r.Faults, "; "); r.Sound() != (c.wrong == "") || !strings.Contains(said, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, said, c.wrong)
		}
	}
}

// Shares are compared with capacities, as a part of what an agent should have.
func TestBalance(t *testing.T) {
	r := &Run{Each: []Each{
		{
			Share:  0.25,
			Hosts:  30,
			Pages:  25,
			Report: AgentReport{BytesReceived: 20},
		}, {Share: 0.75, Hosts: 70, Pages: 75, Report: AgentReport{BytesReceived: 80}},
	}}
	r.balance()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !near(r.WorstDeviation, 0.2) || !near(r.MeanDeviation, (0.2+5.0/75)/2) || r.WorstOfPages != 0 ||
		!near(r.WorstOfBytes, 0.2) {
		t.Errorf("%+v", r)
	}
}

// Each plain run is compared with that of one agent which has as many fetchers, and no other run is.
func TestRatio(t *testing.T) {
	var r Result
	for _, run := range []*Run{
		{Scenario: "plain", Agents: 1, Fetchers: 8, CPUPerPage: 100},
		{Scenario: "plain", Agents: 4, Fetchers: 8, CPUPerPage: 110},
		{Scenario: "plain", Agents: 4, Fetchers: 64, CPUPerPage: 110},
		{Scenario: "kill", Agents: 4, Fetchers: 8, CPUPerPage: 110},
	} {
		r.add(run)
	}
	for k, want := range []float64{1, 1.1, 0, 0} {
		if got := r.Runs[k].CPURatio; math.Abs(got-want) > 1e-9 {
			t.Errorf("run %d: ratio %v, want %v", k, got, want)
		}
	}
	var out strings.Builder
	r.Runs[1].Faults, r.Runs[1].Verdict = []string{"a thing"}, &judge.Verdict{Examples: []string{"of it"}}
	r.Print(&out)
	if !strings.Contains(out.String(), "1.10") || !strings.Contains(out.String(), "WRONG     a thing") || r.Sound() {
		t.Errorf("%s", out.String())
	}
}
