package agent

import (
	"slices"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/counters"
	"orbweaver/internal/outcome"
)

// Report says how things stand between the agents.
func (p *agent) Report(c *counters.Totals) *cluster.StatusReport {
	r := &cluster.StatusReport{
		Self: p.network.Self(), Pages: c.Stored() + c.PagesNotStored,
		LinksSent: c.Sent, LinksReceived: c.Received, LinksOut: c.LinksOut, HandedOver: c.Outcomes[outcome.HandedOver],
		Asked: p.counters.asked.Load() + p.pages.Questions.Load(), Unanswered: p.pages.Unanswered.Load(),
		Recovered: c.Outcomes[outcome.Recovered], Retold: p.counters.resent.Load(),
		Superseded:   p.counters.superseded.Load(),
		MessagesSent: p.senders.Sent.Load(), MessagesReceived: p.counters.messagesIn.Load(),
		MessagesFailed: p.senders.Failed.Load(), MessagesHeld: p.senders.Held.Load(),
		MessagesRefused: p.counters.refused.Load() + p.senders.Refused.Load(),
		BytesSent:       p.senders.BytesSent.Load(), BytesReceived: p.counters.bytesIn.Load(),
		Strangers: p.counters.noMember.Load(), NotTaken: p.counters.unauthorised.Load(),
	}
	p.leases.FillReport(r, time.Now())
	if r.Pages > 0 {
		r.Overhead, r.Lambda = float64(r.LinksSent)/float64(r.Pages), float64(r.LinksOut)/float64(r.Pages)
	}
	for _, id := range p.outbox.Agents() {
		all, _ := p.outbox.Backlog(id)
		r.Waiting += int64(all)
	}
	r.Quorum = p.quorum.Report(time.Now())
	view := p.views.Load()
	for _, k := range p.network.KnownAgents() {
		a := cluster.AgentReport{ID: k.ID, Capacity: k.Capacity, State: k.State}
		if !k.Since.IsZero() {
			a.Since = k.Since.UTC().Format(time.RFC3339)
		}
		if i := slices.IndexFunc(view.Agents, func(p ownership.Agent) bool { return p.ID == k.ID }); i >= 0 {
			a.Share = view.Shares[i]
		}
		waiting, _ := p.outbox.Backlog(k.Instance())
		a.Waiting = int64(waiting)
		p.accounts.FillReport(&a)
		r.Agents = append(r.Agents, a)
	}
	return r
}
