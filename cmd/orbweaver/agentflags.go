package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"orbweaver/engine"
	"orbweaver/engine/cluster/identity"
	"orbweaver/engine/peering"
)

// agentFlags are those of a crawl that several agents share.
type agentFlags struct {
	Agent      string   `help:"Name of this agent: letters, digits, dots, hyphens, underscores; unique in the crawl. Without it this process crawls alone." placeholder:"ID"`
	AgentFile  string   `help:"Certificate and keys of this agent, made by 'orbweaver ca issue'." placeholder:"FILE"`
	AgentPlain bool     `help:"No certificates and no encryption: only for agents on loopback."`
	Gossip     string   `help:"Address of this machine for cluster membership, UDP and TCP. The other agents must reach it." default:"127.0.0.1:7946" placeholder:"HOST:PORT"`
	Post       string   `help:"Address for messages of other agents, TCP. The default is the host of --gossip and the next port." placeholder:"HOST:PORT"`
	Join       []string `help:"The --gossip of another agent. Repeatable: one reachable address is enough, and its own address is ignored. If no address answers, no host is asked for 10s: the other agents may have just stopped." placeholder:"HOST:PORT"`
	Capacity   int      `help:"Share of the hosts, in proportion to the other agents. Raise it on a larger machine." default:"1" placeholder:"N" least:"1" most:"1000"`

	seat peering.Options // if Agent is given
}

// agentHelp is the heading of these flags.
func agentHelp() kong.Group {
	return kong.Group{Key: "agents", Title: "Several agents that share a crawl (docs/cluster-use.md):", Description: "Example, on each machine with its own name and addresses, and all with the same seeds and limits:\n" +
		"orbweaver crawl --agent a1 --agent-file a1.agent --gossip 192.0.2.1:7946 --join 192.0.2.2:7946 --agents 2 --seeds seeds.txt"}
}

// agents makes the options of this agent's seat among the others, if it is not alone.
func (c *crawlCmd) agents(w *world, cfg *engine.Config, log *slog.Logger) error {
	if c.Agent == "" {
		return c.alone()
	}
	var bad mistakes
	o := peering.Options{ID: c.Agent, Capacity: c.Capacity, Log: log}
	bad.add("--agent", identity.CheckName(c.Agent))
	bad.add("--agent", c.sameAgent())
	switch {
	case c.AgentFile != "" && c.AgentPlain:
		bad.add("--agent-plain", errors.New("with --agent-file: one or the other"))
	case c.AgentFile == "" && !c.AgentPlain:
		bad.add("--agent-file", errors.New("an agent needs its file, which 'orbweaver ca issue' makes; or --agent-plain, on loopback"))
	case c.AgentFile != "":
		bad.add("--agent-file", c.identify(&o, log))
	}
	var err error
	o.Gossip, err = agentAddr(c.Gossip)
	bad.add("--gossip", err)
	if o.Post, err = nextPort(o.Gossip); c.Post != "" {
		o.Post, err = agentAddr(c.Post)
	}
	bad.add("--post", err)
	for _, join := range c.Join {
		a, err := agentAddr(join)
		switch {
		case err != nil:
			bad.add("--join", err)
		case o.Gossip.Addr().IsLoopback() && !a.Addr().IsLoopback():
			bad.add("--gossip", fmt.Errorf("the agent at %v cannot reach %v: give an address of this machine that it can", a, o.Gossip))
		case a != o.Gossip:
			o.Join = append(o.Join, a.String())
		}
	}
	cfg.Cluster.Invited = len(o.Join) > 0
	if cfg.Cluster.Quorum && len(o.Join) > 0 && cfg.Cluster.Agents < 2 && c.isNew() {
		bad.add("--quorum", errors.New("with --join, say by --agents how many agents begin the crawl, lest this one begins it alone when none of them answers"))
	}
	if bad.none() && w.faults() == nil { // w.check tells the faults of values
		bad.add("", o.Validate())
	}
	c.seat = o
	return bad.err()
}

// alone refuses what only an agent needs.
func (c *crawlCmd) alone() error {
	var bad mistakes
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"agent-file", c.AgentFile != ""},
		{"agent-plain", c.AgentPlain},
		{"post", c.Post != ""},
		{"join", len(c.Join) > 0},
		{"capacity", c.Capacity > 1},
		{"agents", c.Config.Cluster.Agents > 1},
		{"quorum", c.Config.Cluster.Quorum},
	} {
		if f.given {
			bad.add("--"+f.name, errors.New("is for one of several agents: give its name, --agent"))
		}
	}
	return bad.err()
}

// identify reads the agent's file.
func (c *crawlCmd) identify(o *peering.Options, log *slog.Logger) error {
	id, warnings, err := readIdentity(c.AgentFile, time.Now())
	if err != nil {
		return err
	}
	if id.ID != c.Agent {
		return fmt.Errorf("%s is the file of agent %s, and this is to be %s: give --agent %s, or the file of %s", c.AgentFile, id.ID, c.Agent, id.ID, c.Agent)
	}
	for _, said := range warnings {
		log.Warn(said)
	}
	o.Identity = id
	return nil
}

// sameAgent refuses on resume another name: what the crawl directory holds is of the one that it had.
func (c *crawlCmd) sameAgent() error {
	t, err := readTOML(c.effectiveFile())
	if err != nil {
		return nil //nolint:nilerr // a new crawl, or told elsewhere
	}
	if was, ok := t.values["agent"].(string); ok && was != c.Agent {
		return fmt.Errorf("the crawl in %s is that of agent %s and cannot become %s's; give --agent %s, or another --dir", c.Config.Dir, was, c.Agent, was)
	}
	return nil
}

// isNew says that there is no crawl in the directory yet.
func (c *crawlCmd) isNew() bool {
	_, err := readTOML(c.effectiveFile())
	return err != nil
}

// agentAddr reads HOST:PORT. Names of hosts are not looked up, since agents and pages have nothing to do with each
// other; localhost is known.
func agentAddr(text string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is no HOST:PORT such as 127.0.0.1:7946", text)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(host)
	n, perr := strconv.ParseUint(port, 10, 16)
	if err != nil || perr != nil {
		return netip.AddrPort{}, fmt.Errorf("%q: give an address and a port, such as 127.0.0.1:7946; names are not looked up", text)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}

// nextPort is where letters are taken if nobody says otherwise; any free port if membership has any.
func nextPort(gossip netip.AddrPort) (netip.AddrPort, error) {
	switch gossip.Port() {
	case 0:
		return gossip, nil
	case 1<<16 - 1:
		return gossip, errors.New("there is no port after that of --gossip: give one")
	}
	return netip.AddrPortFrom(gossip.Addr(), gossip.Port()+1), nil
}

// sitting is an agent's seat while a crawl runs; without a Seat it is alone.
type sitting struct {
	*peering.Seat
	log  *slog.Logger
	file string // with the agent's certificate; "" in plain text
}

// sit takes this agent's seat, if it is to have one.
func (c *crawlCmd) sit(ctx context.Context, seams *engine.Seams) (sitting, error) {
	if c.Agent == "" {
		return sitting{}, nil
	}
	if err := c.keepGenerations(&c.seat); err != nil {
		return sitting{}, err
	}
	seat, err := peering.Open(ctx, c.seat)
	if err != nil {
		return sitting{}, err
	}
	seams.Peering = seat
	return sitting{seat, seams.Log, c.AgentFile}, nil
}

// close lets go of the seat, if the crawl did not.
func (s sitting) close() {
	if s.Seat == nil {
		return
	}
	if err := s.Close(); err != nil {
		s.log.Warn("what connected this agent with the others could not be closed", "error", err)
	}
}
