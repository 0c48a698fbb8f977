package agents

import (
	"fmt"
	"math"
	"time"

	"orbweaver/engine/peering/ring"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/load"
)

// Result is all runs, the plain ones first.
type Result struct {
	Name string `json:"name"`
	Runs []*Run `json:"runs"`
}

// Run is what one run found and what it cost.
type Run struct {
	Name     string `json:"name"`
	Scenario string `json:"scenario"`
	Agents   int    `json:"agents"`
	Fetchers int    `json:"fetchers"` // of each agent
	Pages    int    `json:"pages"`    // different ones, in the archives that are left

	Coverage    float64 `json:"coverage"`
	Overlap     float64 `json:"overlap"`      // by the web's log
	OverlapHeld float64 `json:"overlap_held"` // by the archives that are left
	Repeated    int     `json:"repeated"`     // requests for what had a final answer already
	Allowed     int     `json:"allowed"`      // of these, the most that faults excuse
	Impolite    int     `json:"impolite"`     // breaches of promises to hosts and addresses
	Kills       int     `json:"kills,omitempty"`
	LostPages   int64   `json:"lost_pages,omitempty"` // on the disk that was deleted, about

	WallSeconds      float64 `json:"wall_seconds"`
	PagesPerSecond   float64 `json:"pages_per_second"`
	PagesPerAgent    float64 `json:"pages_per_second_per_agent"`
	PagesPerWorker   float64 `json:"pages_per_second_per_worker"`
	CPUPerPage       float64 `json:"cpu_us_per_page"`           // of all agents; if isolated, of the pages of each
	CPURatio         float64 `json:"cpu_ratio,omitempty"`       // to that of one agent with as many fetchers
	WebCPUPerPage    float64 `json:"web_cpu_us_per_page"`       // of the simulated web
	LinksSent        int64   `json:"links_sent"`                // e
	LinksLeast       int     `json:"links_least"`               // what e is at least, if no agent knows what another knows
	Overhead         float64 `json:"communication_overhead"`    // e/n
	Lambda           float64 `json:"lambda"`                    // links to other hosts, of a page
	OverheadOfLambda float64 `json:"communication_of_lambda"`   // (e/n) / lambda
	PeerBytesPerPage float64 `json:"peer_bytes_sent_per_page"`  // by all agents
	MeanDeviation    float64 `json:"mean_deviation,omitempty"`  // of hosts from the share, as a part of it
	WorstDeviation   float64 `json:"worst_deviation,omitempty"` // the same of the agent for which it is largest
	WorstOfPages     float64 `json:"worst_deviation_pages,omitempty"`
	WorstOfBytes     float64 `json:"worst_deviation_bytes,omitempty"`

	Peers   Peers          `json:"peers"` // of all agents
	Audit   *Audit         `json:"audit,omitempty"`
	Parted  *Parted        `json:"partition,omitempty"` // nil if there was none
	Each    []Each         `json:"each"`
	Faults  []string       `json:"faults"` // what is wrong
	Verdict *judge.Verdict `json:"verdict"`
}

// Each is one agent of a run.
type Each struct {
	ID         string      `json:"id"`
	State      string      `json:"state"` // at the end
	Lives      int         `json:"lives"`
	Capacity   int         `json:"capacity"`
	Share      float64     `json:"share"` // what its capacity gives it
	Hosts      int         `json:"hosts"` // in its archive
	Pages      int         `json:"pages"` // in its archive
	CPUSeconds float64     `json:"cpu_seconds"`
	Report     AgentReport `json:"report"`
}

// Sound says that nothing is wrong.
func (r *Run) Sound() bool { return len(r.Faults) == 0 }

// Sound says that nothing is wrong with any run.
func (r *Result) Sound() bool {
	for _, run := range r.Runs {
		if !run.Sound() {
			return false
		}
	}
	return true
}

// add takes a run, and compares it with the last one of a single agent.
func (r *Result) add(run *Run) {
	r.Runs = append(r.Runs, run)
	for _, one := range r.Runs {
		if one.Scenario == string(Plain) && run.Scenario == string(Plain) && one.Agents == 1 &&
			one.Fetchers == run.Fetchers {
			run.CPURatio = run.CPUPerPage / max(one.CPUPerPage, 1e-9)
		}
	}
}

// result reads the reports of all agents at the end of a run.
func (f *fleet) result(truth *judge.Truth, seeds []string, sum *load.Summary, wall time.Duration) (_ *Run, err error) {
	v := sum.Verdict
	r := &Run{
		Name: f.p.name, Scenario: string(f.p.scenario), Agents: f.p.agents, Fetchers: f.p.fetchers, Pages: v.Stored,
		Coverage: v.Coverage, Overlap: v.Overlap, OverlapHeld: v.OverlapHeld, Repeated: v.Repeated,
		Kills: f.faults.kills, LostPages: f.faults.lostPages, WallSeconds: wall.Seconds(), Lambda: truth.LinksOut(),
		Faults: []string{}, Verdict: v,
	}
	var cpu float64
	shares, capacities := v.Shares, 0
	if len(shares) == 0 { // there is one archive
		shares = []judge.Share{{Pages: v.Held, Hosts: -1}}
	}
	for _, a := range f.agents {
		capacities += a.capacity
	}
	for _, a := range f.agents {
		t, err := a.readReport()
		if err != nil {
			return nil, err
		}
		e := Each{
			ID:         a.id,
			State:      a.state.String(),
			Lives:      a.lives,
			Capacity:   a.capacity,
			Share:      float64(a.capacity) / float64(capacities),
			CPUSeconds: a.cpu.Seconds(),
			Report:     t,
		}
		if a.state != lost {
			e.Pages, e.Hosts, shares = shares[0].Pages, shares[0].Hosts, shares[1:]
		}
		cpu += e.CPUSeconds
		r.Peers.add(t.Peers)
		r.Each = append(r.Each, e)
	}
	n := float64(max(r.Pages, 1))
	work := n
	if f.p.isolated { // each of them has them all
		work = float64(max(v.Held, 1))
	}
	r.PagesPerSecond = float64(r.Pages) / max(r.WallSeconds, 1e-9)
	r.PagesPerAgent = r.PagesPerSecond / float64(r.Agents)
	r.PagesPerWorker = r.PagesPerAgent / float64(r.Fetchers)
	r.CPUPerPage, r.WebCPUPerPage = cpu*1e6/work, sum.CPU*1e6/work
	r.LinksSent, r.Overhead = r.Peers.LinksSent, float64(r.Peers.LinksSent)/n
	r.OverheadOfLambda, r.PeerBytesPerPage = r.Overhead/max(r.Lambda, 1e-9), float64(r.Peers.BytesSent)/n
	if f.p.peering() && (f.p.scenario == Plain || f.p.scenario == Capacity) {
		r.balance()
	}
	if f.p.peering() {
		if r.LinksLeast, err = f.least(truth, seeds); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// least is how many links the agents send each other at least, if all that are ever there are there all the time.
func (f *fleet) least(truth *judge.Truth, seeds []string) (int, error) {
	members := make([]ring.Member, len(f.agents))
	for i, a := range f.agents {
		members[i] = ring.Member{ID: a.id, Capacity: a.capacity}
	}
	who, err := ring.NewConsistent(members, ring.DefaultReplicas)
	if err != nil {
		return 0, fmt.Errorf("agents: %w", err)
	}
	return truth.Tellings(len(members), func(host string) int { return who.Owner(ring.Key([]byte(host))) }, seeds), nil
}

// balance compares what each agent has with its share.
func (r *Run) balance() {
	measures := []struct {
		of          func(e *Each) float64
		mean, worst *float64
	}{
		{func(e *Each) float64 { return float64(e.Hosts) }, &r.MeanDeviation, &r.WorstDeviation},
		{func(e *Each) float64 { return float64(e.Pages) }, nil, &r.WorstOfPages},
		{func(e *Each) float64 { return float64(e.Report.BytesReceived) }, nil, &r.WorstOfBytes},
	}
	for _, m := range measures {
		var all, sum float64
		for i := range r.Each {
			all += m.of(&r.Each[i])
		}
		for i := range r.Each {
			off := math.Abs(m.of(&r.Each[i])/max(all*r.Each[i].Share, 1e-9) - 1)
			sum += off
			*m.worst = max(*m.worst, off)
		}
		if m.mean != nil {
			*m.mean = sum / float64(len(r.Each))
		}
	}
}

// judge says what is wrong.
func (r *Run) judge(p *plan) {
	v := r.Verdict
	r.Impolite = impolite(v)
	held := v.Held - v.Stored
	impoliteAllowed, betweenAllowed := 0, 0
	switch p.scenario {
	case Kill:
		r.Allowed = r.Kills * p.inFlight()
	case Lose: // its pages are fetched again, of necessity, and what it had not yet reported
		r.Allowed = v.Unique
	case Partition: // by either side; how much of it came when is judged below
		r.Allowed = r.Parted.Sides[0].Requests.During + r.Parted.Sides[1].Requests.During
		r.Faults = append(r.Faults, r.Parted.faults()...)
		if !p.quorum {
			impoliteAllowed, betweenAllowed = r.Parted.Impolite.During, v.BetweenAgents
		}
	case Plain, Capacity, Leave, Depart, Join:
	}
	heldAllowed := r.Allowed
	if p.scenario == Lose {
		heldAllowed = p.inFlight()
	}
	for _, c := range []struct {
		n, most int
		what    string
	}{
		{v.Missing, 0, "pages missing"}, {v.AttemptsMissing, 0, "URLs never asked for"},
		{r.Repeated, r.Allowed, "pages asked for again"}, {held, heldAllowed, "pages held twice"},
		{r.Impolite, impoliteAllowed, "breaches of politeness or obedience"},
		{v.BetweenAgents, betweenAllowed, "of them between two agents"},
		{v.DigestMismatches, 0, "wrong digests"}, {v.Duplicates, 0, "pages twice in one archive"},
		{v.StoredUnknown, 0, "unknown pages stored"},
		{v.Unexpected, 0, "unexpected requests"},
	} {
		if c.n > c.most {
			r.Faults = append(r.Faults, fmt.Sprintf("%d %s, at most %d are allowed", c.n, c.what, c.most))
		}
	}
}
