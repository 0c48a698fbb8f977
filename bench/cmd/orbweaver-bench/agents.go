package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"orbweaver/bench/agents"
	"orbweaver/bench/netns"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/trials"
	"orbweaver/internal/simweb"
)

type agentsCommand struct {
	agentsRuns

	agentsWeb

	agentsFaults

	Pass    []string `help:"A further argument of each agent, such as --pass=--warc-level=3. Repeatable." placeholder:"ARG" sep:"none"`
	Digests int      `help:"Compare one payload of so many with the truth." default:"5" placeholder:"N"`
	Fsck    bool     `help:"Check each crawl directory that is left, too."`

	Program string `help:"The program orbweaver, which the agents run; the one beside this program, if none is given." placeholder:"FILE"`

	Dir  string `help:"Directory of all files; replaced." default:"./build/agents" placeholder:"DIR"`
	Keep bool   `help:"Keep the directory. The files of a failed run are always kept."`
	Out  string `help:"Write JSON to this file besides." placeholder:"FILE"`
	JSON bool   `help:"Print JSON."`
}

// agentsRuns says which runs there are.
type agentsRuns struct {
	Scenario   []string `help:"plain, capacity, kill, lose, leave, depart, join, partition, or all." default:"all" placeholder:"NAME"`
	Agents     []int64  `help:"Numbers of agents, each a plain run." default:"1,2,4,8" placeholder:"N"`
	Fetchers   []int64  `help:"Numbers of fetch workers of an agent, each with each number of agents; the other runs take the first." default:"64" placeholder:"N"`
	Among      int      `help:"Agents in the runs with faults." default:"4" placeholder:"N" least:"1"`
	Capacities []int64  `help:"Capacities of the agents in the run with capacities." default:"1,2,4" placeholder:"N"`
	Isolated   bool     `help:"Do not connect the agents: the measurement must detect it. N agents have overlap N-1."`
}

// agentsWeb is the simulated web, and the delays without faults.
type agentsWeb struct {
	Grow      bool          `help:"Hosts and addresses of plain runs are for each agent: the web grows with their number, so that each has as much to do."`
	Hosts     int           `help:"Hosts." default:"400" placeholder:"N"`
	IPs       int           `name:"ips" help:"Addresses." default:"100" placeholder:"N"`
	Mean      int           `help:"Mean number of pages of a host, without faults." default:"150" placeholder:"N"`
	FaultMean int           `help:"The same in the runs with faults." default:"50" placeholder:"N"`
	ManyHosts int           `help:"Hosts in the run with capacities, of two pages each on average." default:"30000" placeholder:"N"`
	HostDelay time.Duration `help:"Wait between two requests to a site, without faults." default:"10ms" placeholder:"TIME"`
	IPDelay   time.Duration `name:"ip-delay" help:"Wait between two requests to an address, without faults." default:"2ms" placeholder:"TIME"`
	Seed      int64         `help:"Which web." default:"1" placeholder:"N"`
}

// agentsFaults are the faults, and the delays with them.
type agentsFaults struct {
	FaultHostDelay time.Duration `help:"Wait between two requests to a site in the runs with faults: it sets how long they take." default:"1s" placeholder:"TIME"`
	FaultIPDelay   time.Duration `name:"fault-ip-delay" help:"The same for addresses." default:"100ms" placeholder:"TIME"`
	KillEvery      time.Duration `help:"From one kill to the next." default:"20s" placeholder:"TIME"`
	Rejoin         time.Duration `help:"From a kill to the next start of the same agent." default:"2s" placeholder:"TIME"`
	Partition      []string      `help:"Partitions: full, one-way, flap, or all." default:"all" placeholder:"NAME"`
	Quorum         string        `help:"Whether agents in partitions want leave of a majority: yes, no, or both, a run each." enum:"yes,no,both" default:"both"`
	PartitionTime  time.Duration `help:"How long a partition lasts." default:"40s" placeholder:"TIME"`
	Most           time.Duration `help:"Longest time of a run." default:"10m" placeholder:"TIME"`
}

// Help says what it does.
func (*agentsCommand) Help() string {
	return `Starts several agents as processes on loopback, with one simulated web for all of them. Prints what an
observer outside measures: coverage, overlap and communication overhead as in the UbiCrawler papers;
politeness over all agents together; work by agent and fetch worker; CPU time for each page.

Scenarios:
  plain      no faults
  capacity   agents with different capacities
  kill       kill -9 of each agent in turn; the agent returns
  lose       an agent and its disk are lost
  leave      an agent stops in good order, and returns
  depart     an agent leaves permanently
  join       an agent joins later
  partition  network namespaces; the smaller side is cut off for a while (full), cannot be heard (one-way), or is cut
             off at random (flap); with --quorum and without

Partitions need Linux, unshare, nsenter, ip, and permission to make user namespaces. Without these the exit
status is 1, and all leaves partitions out.

Examples:
  orbweaver-bench agents
  orbweaver-bench agents --scenario plain --agents 1,8,1,8,1,8
  orbweaver-bench agents --scenario plain --grow --hosts 500 --ips 250 --mean 12 --host-delay 1500ms
  orbweaver-bench agents --scenario kill,lose --among 8
  orbweaver-bench agents --scenario partition --partition full,one-way --quorum yes --among 5
  orbweaver-bench agents --scenario plain --agents 2 --isolated      # must fail: overlap 1`
}

// Run measures.
func (c *agentsCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := c.options(inv)
	if err != nil {
		return err
	}
	r, err := agents.Measure(ctx, o)
	if ctx.Err() != nil {
		return errors.Join(errors.New("interrupted; all agents were ended"), err)
	}
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := writeJSON(c.Out, r); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		r.Print(inv.Stdout)
	}
	if err == nil && !r.Sound() {
		return command.ErrUnsound
	}
	if err == nil && !c.Keep {
		err = os.RemoveAll(c.Dir)
	}
	return err
}

// options are what the flags say. The directory is emptied.
func (c *agentsCommand) options(inv *command.Invocation) (o agents.Options, err error) {
	if o.Program, err = c.program(); err != nil {
		return o, err
	}
	if err := c.empty(); err != nil {
		return o, command.Misuse(fmt.Errorf("--dir: %w", err))
	}
	if err := trials.ForgetVariables(); err != nil {
		return o, err
	}
	o.Dir, o.Say, o.Isolated, o.Among, o.Keep = c.Dir, inv.Stderr, c.Isolated, c.Among, c.Keep
	o.Pass, o.Fsck, o.Every = c.Pass, c.Fsck, c.Digests
	for _, s := range c.Scenario {
		if s == "all" {
			o.Scenarios = append(o.Scenarios, c.all(inv)...)
			continue
		}
		o.Scenarios = append(o.Scenarios, agents.Scenario(s))
	}
	for _, p := range c.Partition {
		if p == "all" {
			o.Cuts = append(o.Cuts, agents.Cuts()...)
			continue
		}
		o.Cuts = append(o.Cuts, agents.Cut(p))
	}
	o.Quorums = map[string][]bool{"yes": {true}, "no": {false}, "both": {true, false}}[c.Quorum]
	o.Agents, o.Fetchers, o.Shares, o.Grow = numbers(c.Agents), numbers(c.Fetchers), numbers(c.Capacities), c.Grow
	o.Pace = agents.Pace{HostDelay: c.HostDelay, IPDelay: c.IPDelay}
	o.FaultPace = agents.Pace{HostDelay: c.FaultHostDelay, IPDelay: c.FaultIPDelay}
	o.KillEvery, o.Rejoin, o.Most, o.CutTime = c.KillEvery, c.Rejoin, c.Most, c.PartitionTime
	o.World = simweb.Plain()
	o.World.Seed, o.World.Hosts, o.World.IPs = uint64(c.Seed), c.Hosts, c.IPs
	o.World.PagesPerHostMean, o.World.PagesPerHostMax = c.Mean, 2*c.Mean // a large host would be crawled alone in the end
	o.WithFaults, o.ManyHosts = o.World, o.World
	o.WithFaults.PagesPerHostMean, o.WithFaults.PagesPerHostMax = c.FaultMean, 2*c.FaultMean
	m := &o.ManyHosts
	m.Hosts, m.IPs, m.PagesPerHostMean, m.PagesPerHostMax = c.ManyHosts, max(1, c.ManyHosts/4), 2, 4
	return o, nil
}

// program is the file of orbweaver.
func (c *agentsCommand) program() (string, error) {
	file := c.Program
	if file == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("the file of this program is unknown: %w", err)
		}
		file = filepath.Join(filepath.Dir(self), "orbweaver"+filepath.Ext(self))
	}
	if _, err := os.Stat(file); err != nil {
		return "", command.Misuse(fmt.Errorf("--program: %w: make build builds it", err))
	}
	return filepath.Abs(file)
}

// all are all scenarios that can be played here: one that takes what is not everywhere is left out, and that is said.
func (c *agentsCommand) all(inv *command.Invocation) []agents.Scenario {
	list := agents.Scenarios()
	why := netns.Try(inv.Context)
	if c.Isolated {
		why = errors.New("agents that are --isolated know nothing of each other")
	}
	if why == nil {
		return list
	}
	fmt.Fprintf(inv.Stderr, "without partitions: %v\n", why)
	return slices.DeleteFunc(list, func(s agents.Scenario) bool { return s == agents.Partition })
}

// empty removes what an earlier run has left, and refuses a directory that holds more than that.
func (c *agentsCommand) empty() error {
	entries, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), agents.RunPrefix) {
			return fmt.Errorf(
				"%s holds %s, which no benchmark of agents made; give another directory, since this one would be removed", c.Dir,
				e.Name(),
			)
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(c.Dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func numbers(list []int64) (all []int) {
	for _, c := range list {
		all = append(all, int(c))
	}
	return all
}
