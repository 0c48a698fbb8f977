package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"orbweaver/engine/peering/ring"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/urlx"
)

// RingCommand is the command ring.
type RingCommand struct {
	Owner   ringOwnerCmd   `cmd:"" help:"Read hosts or URLs from stdin; print the agent that owns each."`
	Balance ringBalanceCmd `cmd:"" help:"Measure how evenly hosts are shared."`
}

// Help shows an example.
func (*RingCommand) Help() string {
	return `Several agents share the hosts by their names alone: docs/ring.md.

Example:
  echo example.org | orbweaver ring owner --member agent-1 --member agent-2=4`
}

// assigned is how hosts are assigned to members.
type assigned struct {
	Assignment string `help:"How hosts are assigned: consistent hashing or rendezvous hashing." enum:"consistent,rendezvous" default:"consistent"`
	Replicas   int    `help:"Replicas of a unit of capacity, of consistent hashing; 0 for the default." default:"0" placeholder:"N"`
}

func (a *assigned) assignment(members []ring.Member) (ring.Assignment, error) {
	if a.Assignment == "rendezvous" {
		return ring.NewRendezvous(members)
	}
	replicas := a.Replicas
	if replicas == 0 {
		replicas = ring.DefaultReplicas
	}
	return ring.NewConsistent(members, replicas)
}

type ringOwnerCmd struct {
	assigned
	Member []string `help:"An agent by its identifier, with its capacity if that is not 1; give it several times." required:"" placeholder:"ID[=CAPACITY]"`
}

// Help shows an example.
func (*ringOwnerCmd) Help() string {
	return `Prints the host, a tab, and the name of the agent that owns it.

Example:
  echo http://example.org/page | orbweaver ring owner --member agent-1 --member agent-2=4`
}

// Run answers line by line.
func (c *ringOwnerCmd) Run(inv *command.Invocation) error {
	members, err := ringMembers(c.Member)
	if err != nil {
		return command.Misuse(err)
	}
	a, err := c.assignment(members)
	if err != nil {
		return command.Misuse(fmt.Errorf("--member: %w", err))
	}
	in, out := command.Lines(inv), bufio.NewWriter(inv.Stdout)
	for in.Scan() {
		host, err := ringHost(in.Raw())
		if err != nil {
			fmt.Fprintf(out, "! %s\n", urlx.Reason(err))
			continue
		}
		fmt.Fprintf(out, "%s\t%s\n", host, a.Members()[a.Owner(ring.Key(host))].ID)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	return out.Flush()
}

// ringMembers reads ID and ID=CAPACITY.
func ringMembers(texts []string) (members []ring.Member, err error) {
	var faults []error
	for _, text := range texts {
		id, capacity, given := strings.Cut(text, "=")
		m := ring.Member{ID: id, Capacity: 1}
		if given {
			if m.Capacity, err = strconv.Atoi(capacity); err != nil {
				faults = append(faults, fmt.Errorf("--member %s: the capacity %q is no whole number", text, capacity))
			}
		}
		members = append(members, m)
	}
	return members, errors.Join(faults...)
}

// ringHost is the normal form of a host that stands alone or in a URL, without its port.
func ringHost(line []byte) ([]byte, error) {
	if !bytes.Contains(line, []byte("://")) {
		line = append([]byte("http://"), line...)
	}
	url, err := urlx.Normalize(nil, line)
	if err != nil {
		return nil, err
	}
	site, _ := urlx.Split(url)
	return urlx.Host(site), nil
}

type ringBalanceCmd struct {
	assigned
	Agents []int64 `help:"Numbers of agents, each measured." default:"4,16,64" placeholder:"N"`
	Hosts  int     `help:"Hosts." default:"10_000_000" placeholder:"N"`
	Sets   int64   `help:"Sets of identifiers, over which the mean is taken; the worst is that of all." default:"5" placeholder:"N"`
	Seed   int64   `help:"Which hosts." default:"1" placeholder:"N"`
	JSON   bool    `help:"Print JSON."`
}

// Help says what it does.
func (*ringBalanceCmd) Help() string {
	return `Divides hosts among agents of equal capacity and prints how far their shares are from equal: the mean of the
deviations, as in Figure 1 of the UbiCrawler paper, and the worst deviation of any agent.

Examples:
  orbweaver ring balance
  orbweaver ring balance --agents 8,16,32 --replicas 100 --json`
}

// ringBalance is one row.
type ringBalance struct {
	Name       string  `json:"name"`
	Assignment string  `json:"assignment"`
	Agents     int     `json:"agents"`
	Replicas   int     `json:"replicas,omitempty"`
	Hosts      int     `json:"hosts"`
	Sets       int64   `json:"sets"`
	Mean       float64 `json:"mean_deviation"`
	Worst      float64 `json:"worst_deviation"`
}

// Run measures.
func (c *ringBalanceCmd) Run(inv *command.Invocation) error {
	var rows []ringBalance
	for _, n := range c.Agents {
		row, err := c.row(int(n))
		if err != nil {
			return command.Misuse(err)
		}
		rows = append(rows, row)
	}
	if c.JSON {
		if len(rows) == 1 {
			return command.PrintJSON(inv.Stdout, rows[0])
		}
		var worst ringBalance
		for _, r := range rows {
			if r.Worst >= worst.Worst {
				worst = r
			}
		}
		return command.PrintJSON(inv.Stdout, struct {
			ringBalance
			Runs []ringBalance `json:"runs"`
		}{worst, rows})
	}
	fmt.Fprintf(
		inv.Stdout, "%s, %d hosts, %d sets of identifiers\n%8s %9s %9s %9s\n", c.Assignment, c.Hosts, c.Sets, "agents",
		"replicas", "mean", "worst",
	)
	for _, r := range rows {
		fmt.Fprintf(inv.Stdout, "%8d %9d %8.2f%% %8.2f%%\n", r.Agents, r.Replicas, 100*r.Mean, 100*r.Worst)
	}
	return nil
}

// row measures one number of agents.
func (c *ringBalanceCmd) row(n int) (ringBalance, error) {
	row := ringBalance{
		Name: fmt.Sprintf("%d agents", n), Assignment: c.Assignment, Agents: n, Hosts: c.Hosts, Sets: c.Sets,
	}
	if c.Assignment == "consistent" {
		if row.Replicas = c.Replicas; row.Replicas == 0 {
			row.Replicas = ring.DefaultReplicas
		}
	}
	hosts := rand.New(rand.NewPCG(uint64(c.Seed), 0))
	for set := range c.Sets {
		members := make([]ring.Member, n)
		for i := range members {
			members[i] = ring.Member{ID: fmt.Sprintf("agent-%d-%d", set, i), Capacity: 1}
		}
		a, err := c.assignment(members)
		if err != nil {
			return row, err
		}
		b := ring.MeasureBalance(a, c.Hosts, hosts.Uint64)
		row.Mean += b.Mean / float64(c.Sets)
		row.Worst = max(row.Worst, b.Worst)
	}
	return row, nil
}
