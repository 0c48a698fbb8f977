package agent

import (
	"slices"
	"time"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/internal/outcome"
)

// Report says how things stand between the agents.
func (p *agent) Report(c *counters.Totals) *cluster.StatusReport {
	r := &cluster.StatusReport{
		Self: p.self.ID, Pages: c.Stored() + c.PagesNotStored,
		LinksSent: c.Sent, LinksReceived: c.Received, LinksToOtherHosts: c.LinksOut,
		URLsHandedOver:     c.Outcomes[outcome.HandedOver],
		RecoveryRequests:   p.superseded.questions.Load() + p.pages.Questions.Load(),
		RecoveryUnanswered: p.pages.Unanswered.Load(),
		URLsRecovered:      c.Outcomes[outcome.Recovered], URLsResent: p.lost.resent.Load(),
		PayloadsKnown: p.files.others.Known.Load(), PayloadRequests: p.files.others.Questions.Load(),
		PayloadRequestsUnanswered: p.files.others.Unanswered.Load(), PayloadsElsewhere: p.files.others.Found.Load(),
		PayloadBytesElsewhere: p.files.others.FoundBytes.Load(),
		CapturesSuperseded:    p.superseded.marked.Load(),
		MessagesSent:          p.senders.Sent.Load(), MessagesReceived: p.server.messages.Load(),
		MessagesFailed: p.senders.Failed.Load(), MessagesDeferred: p.senders.Held.Load(),
		MessagesRefused: p.server.malformedMessages.Load() + p.senders.Refused.Load(),
		BytesSent:       p.senders.BytesSent.Load(), BytesReceived: p.server.bytes.Load(),
		UnknownSendersRefused: p.server.authority.noMember.Load(), StatementsRefused: p.server.authority.unauthorised.Load(),
	}
	p.leases.FillReport(r, time.Now())
	if r.Pages > 0 {
		r.Overhead, r.Lambda = float64(r.LinksSent)/float64(r.Pages), float64(r.LinksToOtherHosts)/float64(r.Pages)
	}
	for _, id := range p.files.outbox.Agents() {
		r.URLsWaiting += int64(p.files.outbox.Counts(id).Backlog)
	}
	r.Quorum = p.quorum.Report(time.Now())
	view := p.views.Load()
	for _, k := range p.network.KnownAgents() {
		a := cluster.AgentReport{ID: k.ID, Capacity: k.Capacity, State: k.State}
		if !k.ChangedAt.IsZero() {
			a.StateSince = k.ChangedAt.UTC().Format(time.RFC3339)
		}
		if i := slices.IndexFunc(view.Agents, func(p ownership.Agent) bool { return p.ID == k.ID }); i >= 0 {
			a.Share = view.Shares[i]
		}
		a.URLsWaiting = int64(p.files.outbox.Counts(k.Instance()).Backlog)
		p.accounts.FillReport(&a)
		a.IsSilent = p.leases.IsSilent(k.Instance())
		r.Agents = append(r.Agents, a)
	}
	return r
}
