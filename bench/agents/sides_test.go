package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/simweb/arrivals"
)

// Each promise that a partition can break is told of; so is a partition that was none.
func TestWhatIsWrongWithAPartition(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(p *Parted)
		wrong string // "" for nothing
	}{
		{"nothing", func(*Parted) {}, ""},
		{
			"two sides at a host", func(p *Parted) { p.Impolite.During = 3 },
			"3 breaches of politeness by the two sides, with a quorum",
		},
		{
			"the same without a quorum", func(p *Parted) { p.Impolite.During, p.Quorum, p.Sides[1].LateRequests = 3, false, 9 },
			"",
		},
		{
			"within a side", func(p *Parted) { p.Quorum, p.Sides[1].LateRequests, p.Sides[1].Impolite = false, 9, 1 },
			"1 breaches of politeness within the side of [a3]",
		},
		{
			"when it is over", func(p *Parted) { p.Quorum, p.Sides[1].LateRequests, p.Impolite.After = false, 9, 2 },
			"2 breaches of politeness after it",
		},
		{"before it", func(p *Parted) { p.Impolite.Before = 2 }, "2 breaches of politeness before"},
		{
			"the side without a majority went on", func(p *Parted) { p.Sides[1].LateRequests = 1 },
			"the smaller side made 1 requests",
		},
		{"in a flapping one it may", func(p *Parted) { p.Sides[1].LateRequests, p.Cut = 1, string(Flap) }, ""},
		{
			"a side that stopped without need", func(p *Parted) { p.Quorum = false },
			"the smaller side stopped, without a quorum",
		},
		{"one that had no time to go on", func(p *Parted) { p.Quorum, p.Lasted = false, 20 }, ""},
		{
			"the majority stopped as well", func(p *Parted) { p.Sides[0].LastRequests = 0 }, "the larger side asked for nothing",
		},
		{
			"the side that was cut off did not go on", func(p *Parted) { p.Sides[1].Requests.After = 0 },
			"the smaller side asked for nothing after",
		},
		{"they never met again", func(p *Parted) { p.Together = -1 }, "not found each other again"},
		{"they met late", func(p *Parted) { p.Together = 61 }, "after 61 s"},
		{
			"pages are fetched again and again", func(p *Parted) { p.Repeated.After = 6 },
			"6 pages asked for again after it, at most 5",
		},
		{
			"before it they are", func(p *Parted) { p.Repeated.Before = 3 },
			"3 pages asked for again before the partition, at most 2",
		},
		{"what nobody could say whether it was there", func(p *Parted) { p.Repeated.After, p.Repeated.During = 5, 500 }, ""},
	} {
		p := &Parted{Cut: string(Full), Quorum: true, Lasted: 40, Together: 4, UnderWay: 2, Unanswered: 3}
		p.Sides[0] = Side{Agents: []string{"a1", "a2"}, Requests: Phases{1, 1, 1}, LateRequests: 1, LastRequests: 1}
		p.Sides[1] = Side{Agents: []string{"a3"}, Requests: Phases{1, 1, 1}}
		c.spoil(p)
		said := strings.Join(p.faults(), "; ")
		if (said == "") != (c.wrong == "") || !strings.Contains(said, c.wrong) {
			t.Errorf("%s: %q, want %q", c.name, said, c.wrong)
		}
	}
}

// Requests are counted by when they were made, and by whose they are: a1 is not a10.
func TestRequestsOfASide(t *testing.T) {
	s := &Side{Agents: []string{"a1", "a2"}}
	cut := time.Unix(1000, 0)
	mended, settled := cut.Add(20*time.Second), cut.Add(30*time.Second)
	for _, at := range []float64{-1, 0, 5, 10.6, 16, 19, 20, 29, 30, 40} {
		s.note(cut.Add(time.Duration(at*float64(time.Second))), cut, mended, settled)
	}
	if want := (Phases{1, 7, 2}); s.Requests != want || s.LateRequests != 3 || s.LastRequests != 2 {
		t.Errorf("%+v", s)
	}
	for agent, want := range map[string]bool{"a1": true, "a2": true, "a3": false, "a10": false} {
		if s.has(&arrivals.Arrival{Agent: "orbweaver/1 (+" + contactOf(agent) + ")"}) != want {
			t.Errorf("%s: want %t", agent, want)
		}
	}
}

func report(t *testing.T, a *agent, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, "report.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The smaller side is the last of the agents, always fewer than the others.
func TestSides(t *testing.T) {
	for agents, want := range map[int]int{2: 0, 3: 1, 4: 1, 5: 2, 8: 3} {
		if got := smaller(agents); got != want {
			t.Errorf("%d agents: %d, want %d", agents, got, want)
		}
	}
	c := &partition{}
	a := &agent{dir: t.TempDir()}
	if at, err := a.sees(2); err != nil || !at.IsZero() {
		t.Errorf("without a report: %v %v", at, err)
	}
	const seen = `{"cluster": {"agents": [{"state": "alive", "state_since": "2026-01-02T03:04:05Z"}, `
	report(t, a, seen+`{"state": "dead", "state_since": "2026-01-02T04:04:05Z"}]}}`)
	if at, err := a.sees(2); err != nil || !at.IsZero() {
		t.Errorf("one is dead: %v %v", at, err)
	}
	report(t, a, seen+`{"state": "alive", "state_since": "2026-01-02T04:04:05Z"}], "recovery_unanswered": 4}}`)
	c.mended = time.Date(2026, 1, 2, 4, 4, 0, 0, time.UTC)
	if err := c.look(&fleet{agents: []*agent{a, a}}); err != nil || c.together.Sub(c.mended) != 5*time.Second ||
		c.unanswered != 8 {
		t.Errorf("together at %v: %v", c.together, err)
	}
}

// Agents in a partition find each other by their addresses, with certificates; what is passed on to them comes last, so
// that it wins.
func TestArgumentsInAPartition(t *testing.T) {
	o := options()
	o.Pass, o.Most = []string{"--quorum=false"}, time.Minute
	f := &fleet{o: o, p: &plan{scenario: Partition, agents: 3, quorum: true}, net: &partition{seals: "ca"}}
	f.web = fleetOf(t, plan{scenario: Plain, agents: 1}).web
	for _, id := range []string{"a1", "a2", "a3"} {
		f.agents = append(f.agents,
			&agent{id: id, gossip: "10.77.0." + id[1:] + ":1", post: "10.77.0." + id[1:] + ":2"})
	}
	args := f.args(f.agents[2])
	line := strings.Join(args, " ")
	for _, want := range []string{
		"--agent a3 --agent-file ca/a3.agent --agents 3 --gossip 10.77.0.3:1 --agent-listen 10.77.0.3:2",
		"--join 10.77.0.1:1 --join 10.77.0.2:1 --quorum --quorum=false", "--max-time 2m0s",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %s", want, line)
		}
	}
	f.p.quorum = false
	if slices.Contains(f.args(f.agents[2]), "--quorum") {
		t.Error("--quorum without being asked for")
	}
}
