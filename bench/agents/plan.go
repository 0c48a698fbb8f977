package agents

import (
	"fmt"
	"io"
	"slices"
	"time"

	"orbweaver/internal/simweb"
)

// Scenario is what happens to the agents of a run.
type Scenario string

// The scenarios.
const (
	Plain    Scenario = "plain"    // nothing
	Capacity Scenario = "capacity" // nothing, but their shares differ
	Kill     Scenario = "kill"     // every so often one of them is killed, in turn, and started again
	Lose     Scenario = "lose"     // in the middle one is killed and its disk is gone
	Leave    Scenario = "leave"    // in the middle one is asked to stop, and does not come back
	Depart   Scenario = "depart"   // in the middle one leaves permanently: ctl leave
	Join     Scenario = "join"     // in the middle one more comes

	Partition Scenario = "partition" // in network namespaces of their own they are cut apart for a while
)

// Scenarios are all there are, in the order in which they are run.
func Scenarios() []Scenario {
	return []Scenario{Plain, Capacity, Kill, Lose, Leave, Depart, Join, Partition}
}

// Pace is how fast a run may be.
type Pace struct {
	HostDelay time.Duration
	IPDelay   time.Duration
}

// Options says what to measure.
type Options struct {
	Program   string // this binary
	Dir       string // of all files; must be empty or missing
	Scenarios []Scenario

	Worlds
	Agents   []int // numbers of agents, each a plain run
	Fetchers []int // of each agent, each with each number of agents
	Grow     bool  // World is for one agent: a run of N has N times as many hosts and addresses
	Among    int   // agents where there are faults
	Shares   []int // capacities, one for each agent of the run with capacities

	Times
	Partitions

	// Apart keeps the agents from each other, which must be found out: N agents have overlap N-1.
	Isolated bool
	Pass     []string  // further arguments of each agent
	Every    int       // compare one payload of so many with the truth; 0 means every one
	Fsck     bool      // check each directory that is left
	Keep     bool      // the files of all runs
	Say      io.Writer // gets a line for each run
}

// Worlds are the simulated webs, by the kind of run.
type Worlds struct {
	World      simweb.Config // of plain runs: large, since a process costs some 60 ms of CPU before its first page
	WithFaults simweb.Config // of runs with faults
	ManyHosts  simweb.Config // of that with capacities: many small hosts, since shares of a few hosts are a matter of luck
}

// Times say how fast runs are, and how long their parts take.
type Times struct {
	Pace      Pace          // without faults
	FaultPace Pace          // with faults: slow, so that there is time for them
	KillEvery time.Duration // from one kill to the next
	Rejoin    time.Duration // from a kill to the next life
	Most      time.Duration // for one run; it is an error if it is not over then
}

// Partitions says which partitions are played.
type Partitions struct {
	Cuts    []Cut         // each a run for each of Quorums
	Quorums []bool        // whether the agents run with --quorum
	CutTime time.Duration // how long a partition lasts
}

// plan is one run.
type plan struct {
	name     string
	scenario Scenario
	agents   int
	fetchers int
	shares   []int // capacities; nil if all have 1
	world    simweb.Config
	pace     Pace
	isolated bool
	cut      Cut  // of a partition
	quorum   bool // in it
}

// plans are the runs that the options ask for, the plain ones first.
func (o *Options) plans() ([]plan, error) {
	var all []plan
	for _, s := range o.Scenarios {
		p := plan{
			name:     string(s),
			scenario: s,
			agents:   o.Among,
			fetchers: o.Fetchers[0],
			world:    o.WithFaults,
			pace:     o.FaultPace,
		}
		switch s {
		case Plain:
			all = append(all, o.plain()...)
			continue
		case Capacity:
			p.agents, p.shares, p.world, p.pace = len(o.Shares), o.Shares, o.ManyHosts, o.Pace
		case Partition:
			parted, err := o.parted(p)
			if err != nil {
				return nil, err
			}
			all = append(all, parted...)
			continue
		case Kill, Lose, Leave, Depart, Join:
		default:
			return nil, fmt.Errorf("agents: no scenario is called %q: there are %v", s, Scenarios())
		}
		if p.agents < 2 && s != Kill { // which is a test of one agent, too
			return nil, fmt.Errorf("agents: %s with %d agents: want at least 2", s, p.agents)
		}
		all = append(all, p.named(o))
	}
	number(all)
	return all, nil
}

// parted gives each cut its runs.
func (o *Options) parted(p plan) (all []plan, err error) {
	if smaller(p.agents) < 1 {
		return nil, fmt.Errorf("agents: %s with %d agents: want at least 3, for a larger and a smaller side",
			p.scenario, p.agents)
	}
	if o.Isolated {
		return nil, fmt.Errorf("agents: %s of agents that know nothing of each other: want one or the other",
			p.scenario)
	}
	for _, c := range o.Cuts {
		if !slices.Contains(Cuts(), c) {
			return nil, fmt.Errorf("agents: no partition is called %q: there are %v", c, Cuts())
		}
		for _, q := range o.Quorums {
			p.name, p.cut, p.quorum = string(c), c, q
			if q {
				p.name += "-quorum"
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// number tells runs apart that are asked for several times, for a comparison in pairs.
func number(all []plan) {
	times := make(map[string]int)
	for i := range all {
		name := all[i].name
		if times[name]++; times[name] > 1 {
			all[i].name += fmt.Sprintf("-run%d", times[name])
		}
	}
}

// plain gives each number of agents each number of fetchers.
func (o *Options) plain() (all []plan) {
	for _, fetchers := range o.Fetchers {
		for _, n := range o.Agents {
			p := plan{
				name:     fmt.Sprintf("plain-%d", n),
				scenario: Plain,
				agents:   n,
				fetchers: fetchers,
				world:    o.World,
				pace:     o.Pace,
			}
			if o.Grow && !o.Isolated { // isolated agents have a whole web each
				p.world.Hosts, p.world.IPs = n*o.World.Hosts, n*o.World.IPs
			}
			if len(o.Fetchers) > 1 {
				p.name += fmt.Sprintf("x%d", fetchers)
			}
			all = append(all, p.named(o))
		}
	}
	return all
}

// named says in the name that the agents are apart.
func (p plan) named(o *Options) plan {
	if p.isolated = o.Isolated; p.isolated {
		p.name += "-apart"
	}
	return p
}

// peering says that the agents of a run are told of each other.
func (p *plan) peering() bool { return p.agents > 1 && !p.isolated }

// capacity is that of agent k, from 0.
func (p *plan) capacity(k int) int {
	if p.shares == nil {
		return 1
	}
	return p.shares[k]
}

// inFlight is how many exchanges a killed agent may have been in, or had not yet noted down.
func (p *plan) inFlight() int { return 2 * p.fetchers }
