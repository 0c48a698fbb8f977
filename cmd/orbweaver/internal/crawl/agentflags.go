package crawl

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/cmd/orbweaver/internal/cluster"
	"orbweaver/engine"
	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/cluster/network"
	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/ownership"
	"orbweaver/internal/cli/command"
)

// agentOptions are those of a crawl that several agents share.
type agentOptions struct {
	Agent       string   `help:"Name of this agent: letters, digits, dots, hyphens, underscores; unique in the crawl. Without it this process crawls alone." placeholder:"ID"`
	AgentFile   string   `help:"Certificate and keys of this agent, made by 'orbweaver ca issue'." placeholder:"FILE"`
	AgentPlain  bool     `help:"No certificates and no encryption: only for agents on loopback."`
	Gossip      string   `help:"Address of this machine for cluster membership, UDP and TCP. The other agents must reach it." default:"127.0.0.1:7946" placeholder:"HOST:PORT"`
	AgentListen string   `help:"Address for messages of other agents, TCP. The default is the host of --gossip and the next port." placeholder:"HOST:PORT"`
	Join        []string `help:"The --gossip of another agent. Repeatable: one reachable address is enough, and its own address is ignored. If no address answers, no host is asked for 10s: the other agents may have just stopped." placeholder:"HOST:PORT"`
	Capacity    int      `help:"Share of the hosts, in proportion to the other agents. Raise it on a larger machine." default:"1" placeholder:"N" least:"1" most:"1000"`

	peering network.Options // if Agent is given
}

// agents makes the options of the connection with other agents, if this one has a name.
func (c *agentOptions) agents(inv *command.Invocation, cfg *engine.Config, log *slog.Logger) error {
	if c.Agent == "" {
		return c.alone(&cfg.Cluster)
	}
	var bad command.Faults
	o := network.Options{ID: c.Agent, Capacity: c.Capacity, Settings: sharedSettings(cfg), Log: log}
	bad.Add("--agent", identity.CheckName(c.Agent))
	bad.Add("--agent", c.sameAgent(cfg.Dir))
	switch {
	case c.AgentFile != "" && c.AgentPlain:
		bad.Add("--agent-plain", errors.New("with --agent-file: one or the other"))
	case c.AgentFile == "" && !c.AgentPlain:
		bad.Add("--agent-file",
			errors.New("an agent needs its file, which 'orbweaver ca issue' makes; or --agent-plain, on loopback"))
	case c.AgentFile != "":
		bad.Add("--agent-file", c.identify(&o, log))
	}
	var err error
	o.GossipAddr, err = agentAddr(c.Gossip)
	bad.Add("--gossip", err)
	if o.MessageAddr, err = nextPort(o.GossipAddr); c.AgentListen != "" {
		o.MessageAddr, err = agentAddr(c.AgentListen)
	}
	bad.Add("--agent-listen", err)
	for _, join := range c.Join {
		a, err := agentAddr(join)
		switch {
		case err != nil:
			bad.Add("--join", err)
		case o.GossipAddr.Addr().IsLoopback() && !a.Addr().IsLoopback():
			bad.Add("--gossip",
				fmt.Errorf("the agent at %v cannot reach %v: give an address of this machine that it can", a, o.GossipAddr))
		case a != o.GossipAddr:
			o.Join = append(o.Join, a.String())
		}
	}
	cfg.Cluster.Invited = len(o.Join) > 0
	if cfg.Cluster.Quorum && len(o.Join) > 0 && cfg.Cluster.Agents < 2 && isNew(cfg.Dir) {
		bad.Add(
			"--quorum",
			errors.New(
				"with --join, say by --agents how many agents begin the crawl; else this one begins it alone if no agent answers",
			),
		)
	}
	if bad.IsEmpty() && inv.ValueFaults() == nil { // inv.check tells the faults of values
		bad.Add("", o.Validate())
	}
	c.peering = o
	return bad.Err()
}

// sharedSettings are those that all agents must have, except with the values of Polite. Long values are checksums. What
// may change while a crawl runs is not there: it changes at one agent after the other.
func sharedSettings(cfg *engine.Config) (text string) {
	usual := engine.Polite()
	has := settingsOf(&usual)
	for i, s := range settingsOf(cfg) {
		if s != has[i] {
			text += s
		}
	}
	return text
}

// settingsOf are the settings that all agents must have.
func settingsOf(cfg *engine.Config) []string {
	checksum := func(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
	return []string{
		" --assign " + cfg.Cluster.Assign.String(),
		" --normal-form " + cfg.Admission.NormalForm.String(),
		" --visit " + cfg.Order.Visit.String(),
		fmt.Sprintf(" --score #%08x", checksum(cfg.Filters.Score)),
		fmt.Sprintf(" --budgets #%08x", checksum(fmt.Sprint(cfg.Order.Budgets))), // a map is printed in order
		" --mine " + strings.Join(slices.Compact(slices.Sorted(slices.Values(cfg.Mining.Mine))), ","),
		fmt.Sprintf(" --mine-most %d", cfg.Mining.MineMost),
		fmt.Sprintf(" --ipv6-prefix %d", cfg.Limits.IPv6Prefix),
		fmt.Sprintf(" --quorum %t", cfg.Cluster.Quorum),
	}
}

// alone refuses what only an agent needs.
func (c *agentOptions) alone(cluster *agent.Options) error {
	var bad command.Faults
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"agent-file", c.AgentFile != ""},
		{"agent-plain", c.AgentPlain},
		{"agent-listen", c.AgentListen != ""},
		{"join", len(c.Join) > 0},
		{"capacity", c.Capacity > 1},
		{"agents", cluster.Agents > 1},
		{"quorum", cluster.Quorum},
		{"dedup-agents", cluster.Payloads > 0},
		{"assign", cluster.Assign != ownership.Consistent},
	} {
		if f.given {
			bad.Add("--"+f.name, errors.New("is for one of several agents: give its name, --agent"))
		}
	}
	return bad.Err()
}

// identify reads the agent's file.
func (c *agentOptions) identify(o *network.Options, log *slog.Logger) error {
	id, warnings, err := cluster.ReadIdentity(c.AgentFile, time.Now())
	if err != nil {
		return err
	}
	if id.ID != c.Agent {
		return fmt.Errorf(
			"%s is the file of agent %s, and this agent is %s: give --agent %s, or the file of %s", c.AgentFile, id.ID,
			c.Agent, id.ID, c.Agent,
		)
	}
	for _, said := range warnings {
		log.Warn(said)
	}
	o.Identity = id
	return nil
}

// sameAgent refuses on resume another name: what the crawl directory holds is of the one that it had.
func (c *agentOptions) sameAgent(dir string) error {
	t, err := command.ReadTOML(effectiveFile(dir))
	if err != nil {
		return nil //nolint:nilerr // a new crawl, or told elsewhere
	}
	if was, ok := t.Text("agent"); ok && was != c.Agent {
		return fmt.Errorf(
			"the crawl in %s is that of agent %s and cannot become %s's; give --agent %s, or another --dir", dir, was, c.Agent,
			was,
		)
	}
	return nil
}

// isNew says that there is no crawl in the directory yet.
func isNew(dir string) bool {
	_, err := command.ReadTOML(effectiveFile(dir))
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
		return netip.AddrPort{}, fmt.Errorf(
			"%q: give an address and a port, such as 127.0.0.1:7946; names are not looked up", text,
		)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}

// nextPort is the default address for messages: the port after that of membership; any free port if that has any.
func nextPort(gossip netip.AddrPort) (netip.AddrPort, error) {
	switch gossip.Port() {
	case 0:
		return gossip, nil
	case 1<<16 - 1:
		return gossip, errors.New("there is no port after that of --gossip: give one")
	}
	return netip.AddrPortFrom(gossip.Addr(), gossip.Port()+1), nil
}

// peerConnection connects a running crawl with the other agents. Without a Network the crawl has none.
type peerConnection struct {
	*network.Network
	log  *slog.Logger
	file string // with the agent's certificate; "" in plain text
}

// openPeering connects this agent with the others, if it has a name.
func (c *agentOptions) openPeering(ctx context.Context, dir string, seams *engine.Seams) (peerConnection, error) {
	if c.Agent == "" {
		return peerConnection{}, nil
	}
	if err := keepGenerations(&c.peering, dir); err != nil {
		return peerConnection{}, err
	}
	peers, err := network.Open(ctx, c.peering)
	if err != nil {
		return peerConnection{}, err
	}
	seams.Peering = peers
	return peerConnection{peers, seams.Log, c.AgentFile}, nil
}

// close ends the connection, unless the crawl has ended it.
func (p peerConnection) close() {
	if p.Network == nil {
		return
	}
	if err := p.Close(); err != nil {
		p.log.Warn("what connected this agent with the others could not be closed", "error", err)
	}
}
