package engine

import (
	"slices"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/counters"
	"orbweaver/engine/outcome"
)

// Report says how things stand between the agents.
func (p *peers) Report(c *counters.Totals) *cluster.StatusReport {
	r := &cluster.StatusReport{
		Self: p.seam.Self(), Pages: c.Stored() + c.PagesNotStored,
		LinksSent: c.Sent, LinksReceived: c.Received, LinksOut: c.LinksOut, HandedOver: c.Outcomes[outcome.HandedOver],
		Asked: p.n.asked.Load(), Unanswered: p.n.unanswered.Load(), Recovered: c.Outcomes[outcome.Recovered], Retold: p.n.retold.Load(), Superseded: p.n.superseded.Load(),
		LettersSent: p.n.lettersOut.Load(), LettersReceived: p.n.lettersIn.Load(), LettersFailed: p.n.failed.Load(), LettersHeld: p.n.held.Load(), LettersRefused: p.n.refused.Load(),
		BytesSent: p.n.bytesOut.Load(), BytesReceived: p.n.bytesIn.Load(), Strangers: p.n.strangers.Load(), NotTaken: p.n.unauthorised.Load(),
	}
	n := &p.n
	r.LeasesWished, r.LeasesAsked, r.LeasesUnanswered, r.LeasesAborted = n.leaseWishes.Load(), n.leaseAsked.Load(), n.leaseUnanswered.Load(), n.leaseAborted.Load()
	r.LeasesKept = p.leases.book.LeaseCount(time.Now())
	if r.Pages > 0 {
		r.Overhead, r.Lambda = float64(r.LinksSent)/float64(r.Pages), float64(r.LinksOut)/float64(r.Pages)
	}
	for _, id := range p.box.Agents() {
		all, _ := p.box.Backlog(id)
		r.Waiting += int64(all)
	}
	r.Quorum = p.quorum.report(time.Now())
	circle := p.circle.Load()
	for _, k := range p.seam.KnownAgents() {
		a := cluster.AgentReport{ID: k.ID, Capacity: k.Capacity, State: k.State}
		if !k.Since.IsZero() {
			a.Since = k.Since.UTC().Format(time.RFC3339)
		}
		if i := slices.IndexFunc(circle.Agents, func(p ownership.Agent) bool { return p.ID == k.ID }); i >= 0 {
			a.Share = circle.Shares[i]
		}
		waiting, _ := p.box.Backlog(k.Instance())
		a.Waiting = int64(waiting)
		p.standings.report(&a)
		r.Agents = append(r.Agents, a)
	}
	return r
}
