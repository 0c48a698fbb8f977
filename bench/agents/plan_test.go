package agents

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options ask for everything there is.
func options() *Options {
	return &Options{
		Scenarios: Scenarios(), Worlds: Worlds{World: simweb.Plain()}, Agents: []int{1, 4}, Fetchers: []int{16, 64}, Among: 3,
		Shares: []int{1, 2, 4}, Partitions: Partitions{Cuts: Cuts(), Quorums: []bool{true, false}},
		Times: Times{Pace: Pace{HostDelay: time.Second}, FaultPace: Pace{HostDelay: time.Minute}},
	}
}

// The plain runs come first, each number of agents with each number of fetchers; faults take their time.
func TestPlans(t *testing.T) {
	o := options()
	o.ManyHosts.Hosts = 9999
	plans, err := o.plans()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range plans {
		names = append(names, plans[i].name)
	}
	const want = "plain-1x16 plain-4x16 plain-1x64 plain-4x64 capacity kill lose leave depart join full-quorum full " +
		"one-way-quorum one-way flap-quorum flap"
	if strings.Join(names, " ") != want {
		t.Fatalf("%q, want %q", names, want)
	}
	four, capacity, kill := plans[3], plans[4], plans[5]
	if four.agents != 4 || four.fetchers != 64 || four.pace != o.Pace || !four.peering() || four.capacity(3) != 1 ||
		plans[0].peering() {
		t.Errorf("%+v", four)
	}
	if capacity.agents != 3 || capacity.capacity(2) != 4 || capacity.world.Hosts != 9999 || capacity.pace != o.Pace {
		t.Errorf("%+v", capacity)
	}
	if kill.agents != 3 || kill.pace != o.FaultPace || kill.fetchers != 16 {
		t.Errorf("%+v", kill)
	}
	o.Scenarios, o.Fetchers, o.Agents = []Scenario{Plain}, []int{8}, []int{1, 8, 1, 8}
	if plans, err = o.plans(); err != nil || plans[1].name != "plain-8" || plans[3].name != "plain-8-run2" {
		t.Errorf("%+v %v", plans, err)
	}
	o.Agents = []int{1, 4}
	for _, bad := range []func(o *Options){
		func(o *Options) { o.Cuts = []Cut{"half"} }, func(o *Options) { o.Among = 2 }, func(o *Options) { o.Isolated = true },
	} {
		o := options()
		o.Scenarios = []Scenario{Partition}
		bad(o)
		if plans, err := o.plans(); err == nil {
			t.Errorf("%+v", plans)
		}
	}
	o.Isolated, o.Scenarios, o.Fetchers = true, []Scenario{Plain}, []int{8}
	if plans, err = o.plans(); err != nil || plans[1].name != "plain-4-apart" || plans[1].peering() {
		t.Errorf("%+v %v", plans, err)
	}
}

// A web that grows gives each of some agents as much as it gives one; agents apart have one each anyway.
func TestAGrowingWeb(t *testing.T) {
	o := options()
	o.Scenarios, o.Agents, o.Fetchers, o.Grow = []Scenario{Plain, Capacity}, []int{1, 8}, []int{8}, true
	o.World.Hosts, o.World.IPs, o.ManyHosts.Hosts = 50, 13, 99
	for _, apart := range []bool{false, true} {
		o.Isolated = apart
		plans, err := o.plans()
		if err != nil {
			t.Fatal(err)
		}
		hosts, ips := 400, 104
		if apart {
			hosts, ips = 50, 13
		}
		if plans[0].world.Hosts != 50 || plans[1].world.Hosts != hosts || plans[1].world.IPs != ips ||
			plans[2].world.Hosts != 99 {
			t.Errorf("apart %v: %d, %d and %d hosts", apart, plans[0].world.Hosts, plans[1].world.Hosts,
				plans[2].world.Hosts)
		}
	}
}

// fleetOf makes a fleet that is not started.
func fleetOf(t *testing.T, p plan) *fleet {
	t.Helper()
	f, err := newFleet(t.Context(), options(), &p, newLoopback(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f.web = &load.Child{Seeds: "seeds.txt", Where: load.Addresses{IPs: 7}}
	return f
}

// Agents that share a crawl are told where the others are, and which part is theirs; no two listen in one place.
func TestArguments(t *testing.T) {
	f := fleetOf(t, plan{scenario: Capacity, agents: 3, fetchers: 8, shares: []int{1, 2, 4}})
	line := strings.Join(f.args(f.agents[2]), " ")
	for _, want := range []string{
		"--resolver hashed:7", "--fetchers 8", "--agent a3 --agent-plain", "--gossip " + f.agents[2].gossip,
		"--agent-listen " + f.agents[2].post, "--capacity 4",
		"--join " + f.agents[0].gossip + " --join " + f.agents[1].gossip, "--agents 3",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %s", want, line)
		}
	}
	f.agents[2].lives = 1 // the others may be gone when it comes back
	if line := strings.Join(f.args(f.agents[2]), " "); !strings.Contains(line, "--agents 1") {
		t.Errorf("a second life: %s", line)
	}
	var all []string
	for _, a := range f.agents {
		all = append(all, a.gossip, a.post)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 {
		t.Errorf("addresses %q", all)
	}
	for _, p := range []plan{{scenario: Plain, agents: 1}, {scenario: Plain, agents: 2, isolated: true}} {
		f := fleetOf(t, p)
		f.o.Pass = []string{"--agent-return-wait=5s", "--via"}
		if line := strings.Join(f.args(f.agents[0]), " "); strings.Contains(line, "--agent") ||
			strings.Contains(line, "--gossip") || !strings.Contains(line, "--via") {
			t.Errorf("an agent alone: %s", line)
		}
	}
}

// An agent that joins later is not named before, and the archive of an agent that loses its disk is not judged.
func TestTheLastIsTheOneSomethingHappensTo(t *testing.T) {
	f := fleetOf(t, plan{scenario: Join, agents: 3})
	first, late := strings.Join(f.args(f.agents[0]), " "), strings.Join(f.args(f.agents[2]), " ")
	if strings.Contains(first, f.agents[2].gossip) || strings.Count(late, "--join") != 2 ||
		!strings.Contains(first, "--agents 2") ||
		!strings.Contains(late, "--agents 1") {
		t.Errorf("the first: %s\nthe last: %s", first, late)
	}
	if dirs := f.archives(); len(dirs) != 3 {
		t.Errorf("judged: %q", dirs)
	}
	f = fleetOf(t, plan{scenario: Lose, agents: 3})
	if dirs := f.archives(); !slices.Equal(dirs, []string{f.agents[0].dir, f.agents[1].dir}) {
		t.Errorf("judged: %q", dirs)
	}
}

// A port with a listener, TCP or UDP, is not free.
func TestFreePorts(t *testing.T) {
	ctx := t.Context()
	p := newPorts()
	first, err := p.free(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var c net.ListenConfig
	tcp, err := c.Listen(ctx, "tcp4", first)
	if err != nil {
		t.Fatal(err)
	}
	if tryPort(ctx, first) == nil {
		t.Error("a TCP listener is there, and the address is called free")
	}
	tcp.Close()
	udp, err := c.ListenPacket(ctx, "udp4", first)
	if err != nil {
		t.Fatal(err)
	}
	if tryPort(ctx, first) == nil {
		t.Error("a UDP listener is there, and the address is called free")
	}
	udp.Close()
	if err := tryPort(ctx, first); err != nil {
		t.Errorf("nobody listens: %v", err)
	}
}
