package agents

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
)

// Parted is what a partition did, by the web's log.
type Parted struct {
	Cut     string  `json:"cut"`
	Quorum  bool    `json:"quorum"`
	Began   float64 `json:"began_s"` // since the run began
	Lasted  float64 `json:"lasted_s"`
	Changes int     `json:"changes"` // cuts and mends, without the last mend
	// Together is how long after its end the last agent saw all others again; -1 if that was never.
	Together float64 `json:"together_s"`

	Sides    [2]Side `json:"sides"`    // the larger one first
	Impolite Phases  `json:"impolite"` // breaches over all agents
	Repeated Phases  `json:"repeated"` // pages asked for again
	// Overlap is Repeated.Apart for each page that was asked for then.
	Overlap float64 `json:"overlap_apart"`
	// UnderWay is how many pages may be asked for again at any time with a quorum: those in flight when the agents had to
	// stop because the cluster membership changed. Unanswered counts page recovery requests across the partition without
	// an answer: those pages are asked for again, too.
	UnderWay   int `json:"under_way"`
	Unanswered int `json:"unanswered"`
}

// Phases are numbers of something before a partition, while it lasts and the sides have not found each other, and after
// that.
type Phases struct {
	Before int `json:"before"`
	During int `json:"apart"`
	After  int `json:"after"`
}

// Side is one side of a partition.
type Side struct {
	Agents   []string      `json:"agents"`
	Impolite int           `json:"impolite"`        // breaches between requests of this side, from beginning to end
	MinGap   time.Duration `json:"min_host_gap_ns"` // between two of its requests to a host
	Requests Phases        `json:"requests"`
	// Late are those of its requests from 10.5 s after the beginning of the partition to its end, and Last those of the
	// last 5 s.
	LateRequests int `json:"requests_late"`
	LastRequests int `json:"requests_last"`
}

const (
	// stopsIn is within what time agents that have lost the majority stop, and what a machine may be late.
	stopsIn = 10*time.Second + 500*time.Millisecond
	// goesOn is after what time either side asks the hosts of the other: it takes the others for dead, and leaves alone
	// what they had. Until then it may have nothing to ask: the other side grants the leases of its addresses.
	goesOn = 25 * time.Second
	// findIn is within what time after the end of a partition its sides find each other.
	findIn = time.Minute
	// settling is the time for what is under way then: an agent that has found the others asks them from then on.
	settling = 5 * time.Second
)

// report implements network: it reads the web's log after a run.
func (c *partition) report(f *fleet, run *Run, begun time.Time) (err error) {
	run.Parted, err = c.sides(f, run, begun)
	return err
}

// sides compares the requests of both sides.
func (c *partition) sides(f *fleet, run *Run, begun time.Time) (*Parted, error) {
	world, err := origin.New(f.p.world)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(c.log)
	if err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	log, err := world.ReadLog(file)
	_ = file.Close() // it was only read
	if err != nil {
		return nil, err
	}
	r := &Parted{
		Cut:      string(f.p.cut),
		Quorum:   f.p.quorum,
		Began:    c.cut.Sub(begun).Seconds(),
		Lasted:   c.mended.Sub(c.cut).Seconds(),
		Changes:  c.changes,
		Together: -1,
	}
	settled := time.Unix(math.MaxInt32, 0)
	if f.p.quorum {
		r.UnderWay = f.p.agents * f.p.fetchers
	}
	if !c.together.IsZero() {
		r.Unanswered = int(run.Peers.Unanswered - c.unanswered)
		r.Together, settled = c.together.Sub(c.mended).Seconds(), c.together.Add(settling)
	}
	verdict := func(keep func(*arrivals.Arrival) bool) judge.Verdict {
		promise := judge.Promise{
			HostDelay: f.p.pace.HostDelay,
			IPDelay:   f.p.pace.IPDelay,
			Partial:   true,
			Resumed:   true,
		}
		return world.Judge(log.Only(keep), promise, nil)
	}
	var upTo [3]judge.Verdict
	for i, end := range []time.Time{c.cut, settled, time.Unix(math.MaxInt32, 0)} {
		upTo[i] = verdict(func(a *arrivals.Arrival) bool { return a.Time.Before(end) })
	}
	phases := func(n func(*judge.Verdict) int) Phases {
		return Phases{Before: n(&upTo[0]), During: n(&upTo[1]) - n(&upTo[0]), After: n(&upTo[2]) - n(&upTo[1])}
	}
	r.Impolite, r.Repeated = phases(impolite), phases(func(v *judge.Verdict) int { return v.Repeated })
	asked := map[string]bool{}
	for s, members := range [][]int{c.large, c.small} {
		side := &r.Sides[s]
		for _, k := range members {
			side.Agents = append(side.Agents, f.agents[k].id)
		}
		v := verdict(func(a *arrivals.Arrival) bool { return side.has(a) })
		side.Impolite, side.MinGap = impolite(&v), v.MinHostGap
		for a := range log.All() {
			if !side.has(&a) {
				continue
			}
			side.note(a.Time, c.cut, c.mended, settled)
			if !a.Time.Before(c.cut) && a.Time.Before(settled) && a.Path != "/robots.txt" {
				asked[a.URL] = true
			}
		}
	}
	r.Overlap = float64(r.Repeated.During) / float64(max(len(asked), 1))
	return r, nil
}

// has says that a request is of this side, by the contact that each agent gives.
func (s *Side) has(a *arrivals.Arrival) bool {
	return slices.ContainsFunc(s.Agents, func(id string) bool { return strings.Contains(a.Agent, contactOf(id)+")") })
}

// note counts a request.
func (s *Side) note(at, cut, mended, settled time.Time) {
	switch {
	case at.Before(cut):
		s.Requests.Before++
	case at.Before(settled):
		s.Requests.During++
	default:
		s.Requests.After++
	}
	if at.After(cut.Add(stopsIn)) && at.Before(mended) {
		s.LateRequests++
	}
	if at.After(mended.Add(-5*time.Second)) && at.Before(mended) {
		s.LastRequests++
	}
}

// impolite counts breaches of promises to hosts and addresses.
func impolite(v *judge.Verdict) int {
	return v.HostGapViolations + v.IPGapViolations + v.HostConcurrency + v.IPConcurrency + v.RetryAfterViolations +
		v.RobotsViolations + v.Nameless
}

// faults says what is wrong: a broken promise, or a partition that was none.
func (r *Parted) faults() (faults []string) {
	complain := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	large, small := &r.Sides[0], &r.Sides[1]
	for _, s := range r.Sides {
		complain(s.Impolite > 0, "%d breaches of politeness within the side of %v", s.Impolite, s.Agents)
	}
	complain(r.Impolite.Before > 0, "%d breaches of politeness before the partition", r.Impolite.Before)
	complain(r.Impolite.After > 0, "%d breaches of politeness after it", r.Impolite.After)
	complain(r.Quorum && r.Impolite.During > 0, "%d breaches of politeness by the two sides, with a quorum",
		r.Impolite.During)
	complain(r.Repeated.Before > r.UnderWay, "%d pages asked for again before the partition, at most %d are allowed",
		r.Repeated.Before, r.UnderWay)
	complain(r.Repeated.After > r.UnderWay+r.Unanswered, "%d pages asked for again after it, at most %d are allowed",
		r.Repeated.After, r.UnderWay+r.Unanswered)
	complain(r.Together < 0, "the agents have not found each other again before the end of the crawl")
	complain(r.Together > findIn.Seconds(), "the agents have found each other after %.0f s, at most %v are allowed",
		r.Together, findIn)
	complain(small.Requests.After == 0, "the smaller side asked for nothing after the partition")
	if r.Cut == string(Flap) {
		return faults
	}
	complain(large.LastRequests == 0, "the larger side asked for nothing in the last 5 s of the partition")
	complain(r.Quorum && small.LateRequests > 0, "the smaller side made %d requests from %v on, with a quorum",
		small.LateRequests, stopsIn)
	stopped := r.Lasted >= goesOn.Seconds() && small.LateRequests == 0
	complain(!r.Quorum && stopped, "the smaller side stopped, without a quorum")
	return faults
}

// print writes it for people.
func (r *Parted) print(out io.Writer) {
	together := "not one group again before the end"
	if r.Together >= 0 {
		together = fmt.Sprintf("one group again %.0f s after its end", r.Together)
	}
	fmt.Fprintf(out, "  parted    %v, %d changes, from %.0f s on for %.1f s; %s\n", r.Cut, r.Changes, r.Began,
		r.Lasted, together)
	fmt.Fprintf(
		out,
		"  impolite  %d before, %d apart, %d after; asked for again %d before, %d apart (%.4f of the pages asked for "+
			"then), %d after (%d questions unanswered)\n",
		r.Impolite.Before,
		r.Impolite.During,
		r.Impolite.After,
		r.Repeated.Before,
		r.Repeated.During,
		r.Overlap,
		r.Repeated.After,
		r.Unanswered,
	)
	for i, s := range r.Sides {
		fmt.Fprintf(
			out,
			"  %s %s: %d impolite, smallest gap %v; requests %d before, %d apart (%d from %v on to the end of the "+
				"partition), %d after\n",
			[...]string{"larger   ", "smaller  "}[i],
			strings.Join(s.Agents, " "),
			s.Impolite,
			s.MinGap.Round(100*time.Microsecond),
			s.Requests.Before,
			s.Requests.During,
			s.LateRequests,
			stopsIn,
			s.Requests.After,
		)
	}
}
