package ctl

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/cluster"
)

type ctlPeersCmd struct{}

// Help shows examples.
func (*ctlPeersCmd) Help() string {
	return `The other agents, as the agent of this directory sees them. Each agent has its own --dir. A star marks this
agent. If the crawl does not run, this is its last report.

e is the number of links that this agent sent to others, n the number of pages that it has crawled. lambda
is the number of links of a page that lead to other hosts. If URLs were sent repeatedly, e/n would be close
to lambda.

Examples:
  orbweaver ctl peers --dir crawl
  orbweaver ctl peers --dir crawl --json`
}

// Run prints them.
func (*ctlPeersCmd) Run(inv *command.Invocation, c *Command) error {
	r, err := c.report(inv)
	switch {
	case err != nil:
		return err
	case r.Peers == nil:
		return crawl.ErrAlone
	case c.JSON:
		return command.PrintJSON(inv.Stdout, r.Peers)
	}
	return writePeers(inv.Stdout, r.Peers)
}

func writePeers(out io.Writer, p *cluster.StatusReport) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "agent\tcapacity\tshare\twaiting\tstate\tsince\t")
	for _, a := range p.Agents {
		star := " "
		if a.ID == p.Self {
			star = "*"
		}
		fmt.Fprintf(t, "%s%s\t%d\t%.2f %%\t%d\t%s\t%s\t\n", a.ID, star, a.Capacity, 100*a.Share, a.Waiting, a.State, a.Since)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(
		out,
		"links    e = %d sent, %d received; n = %d pages; e/n = %.3f; lambda = %.3f; %d wait, %d URLs were handed over\n",
		p.LinksSent, p.LinksReceived, p.Pages, p.Overhead, p.Lambda, p.Waiting, p.HandedOver,
	)
	fmt.Fprintf(
		out, "letters  %d sent (%s), %d received (%s); %d did not arrive and were kept, %d were refused\n", p.MessagesSent,
		command.FormatBytes(p.BytesSent), p.MessagesReceived, command.FormatBytes(p.BytesReceived), p.MessagesFailed,
		p.MessagesRefused,
	)
	fmt.Fprintf(
		out,
		"leases   %d addresses requested in %d questions, %d not answered; %d granted by this agent now; "+
			"%d exchanges aborted\n",
		p.LeasesWished, p.LeasesAsked, p.LeasesUnanswered, p.LeasesKept, p.LeasesAborted,
	)
	if q := p.Quorum; q != nil {
		word := "none, so nothing is fetched here"
		if q.Majority {
			word = "yes"
		}
		fmt.Fprintf(
			out, "majority %s: voters: %s; answering: %s\n", word, strings.Join(q.Agreed, ", "),
			strings.Join(q.Answer, ", "),
		)
	}
	for _, a := range p.Agents {
		if a.ToldToWait > 0 {
			fmt.Fprintf(out, "quota    %s has sent %d URLs, and was told %d times to wait\n", a.ID, a.Received, a.ToldToWait)
		}
		if a.NotTaken > 0 {
			fmt.Fprintf(
				out, "ignored  %d statements of %s, which has no authority to make them; the rest of its letters was taken\n",
				a.NotTaken, a.ID,
			)
		}
		if a.Banned != "" {
			fmt.Fprintf(
				out, "banned   %s until %s: %s; %d letters and questions were refused since\n", a.ID, a.Banned, a.BannedFor,
				a.Refused,
			)
		}
	}
	if p.Strangers > 0 {
		fmt.Fprintf(out, "refused  %d letters and questions of agents that are not members of this crawl\n", p.Strangers)
	}
	if p.MessagesHeld > 0 {
		fmt.Fprintf(out, "quota    others told this agent %d times to wait\n", p.MessagesHeld)
	}
	return nil
}
