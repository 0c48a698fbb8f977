package ctl

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
)

type agentsCmd struct{}

// Help shows examples.
func (*agentsCmd) Help() string {
	return `The agents of the cluster, as the agent of this directory sees them. Each agent has its own --dir. A star marks
this agent. If the crawl does not run, the table is from its last report.

e is the number of links that this agent sent to other agents, n the number of pages that it crawled. lambda
is the mean number of links on a page that lead to other hosts. If e/n is close to lambda, URLs are sent
repeatedly: raise --cache-memory.

Examples:
  orbweaver ctl agents --dir crawl
  orbweaver ctl agents --dir crawl --json`
}

// Run prints them.
func (*agentsCmd) Run(inv *command.Invocation, c *Command) error {
	r, err := c.status(inv)
	switch {
	case err != nil:
		return err
	case r.Cluster == nil:
		return crawl.ErrAlone
	case c.JSON:
		return command.PrintJSON(inv.Stdout, r.Cluster)
	}
	return writeAgents(inv.Stdout, r.Cluster)
}

func writeAgents(out io.Writer, p *cluster.StatusReport) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "agent\tcapacity\tshare\twaiting\tstate\tsince\t")
	for _, a := range p.Agents {
		star := " "
		if a.ID == p.Self {
			star = "*"
		}
		fmt.Fprintf(
			t, "%s%s\t%d\t%.2f %%\t%d\t%s\t%s\t\n", a.ID, star, a.Capacity, 100*a.Share, a.URLsWaiting, a.State,
			a.StateSince,
		)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(
		out,
		"links    e = %d sent, %d received; n = %d pages; e/n = %.3f; lambda = %.3f; %d URLs waiting, %d handed over\n",
		p.LinksSent, p.LinksReceived, p.Pages, p.Overhead, p.Lambda, p.URLsWaiting, p.URLsHandedOver,
	)
	fmt.Fprintf(
		out, "messages %d sent (%s), %d received (%s); %d failed and are sent again, %d refused\n", p.MessagesSent,
		plural.Bytes(p.BytesSent), p.MessagesReceived, plural.Bytes(p.BytesReceived), p.MessagesFailed,
		p.MessagesRefused,
	)
	fmt.Fprintf(
		out,
		"leases   %d requested in %d requests, %d not answered; %d granted by this agent; %d exchanges aborted\n",
		p.LeasesRequested, p.LeaseRequests, p.LeaseRequestsUnanswered, p.LeasesGranted, p.LeaseExchangesAborted,
	)
	if q := p.Quorum; q != nil {
		word := "none: this agent fetches nothing"
		if q.HasLease {
			word = "yes"
		}
		fmt.Fprintf(
			out, "lease    %s; voters: %s; reachable: %s\n", word, strings.Join(q.Voters, ", "),
			strings.Join(q.Reachable, ", "),
		)
	}
	for _, a := range p.Agents {
		if a.MessagesOverQuota > 0 {
			fmt.Fprintf(
				out, "quota    %s sent %d URLs; %d of its messages were deferred\n", a.ID, a.URLsReceived,
				a.MessagesOverQuota,
			)
		}
		if a.StatementsRefused > 0 {
			fmt.Fprintf(
				out, "ignored  %d statements of %s, which has no authority to make them; the rest of the messages counted\n",
				a.StatementsRefused, a.ID,
			)
		}
		if a.IsSilent {
			fmt.Fprintf(out, "silent   %s does not answer requests for address leases in time\n", a.ID)
		}
		if a.BannedUntil != "" {
			fmt.Fprintf(
				out, "banned   %s until %s: %s; %d messages and requests refused\n", a.ID, a.BannedUntil, a.BanReason,
				a.MessagesRefused,
			)
		}
	}
	if p.UnknownSendersRefused > 0 {
		fmt.Fprintf(
			out, "refused  %d messages and requests of senders that are not members of this cluster\n",
			p.UnknownSendersRefused,
		)
	}
	if p.MessagesDeferred > 0 {
		fmt.Fprintf(out, "quota    %d messages of this agent were deferred by other agents\n", p.MessagesDeferred)
	}
	return nil
}
