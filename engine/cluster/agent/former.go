package agent

import (
	"time"

	"orbweaver/engine/cluster/ownership"
)

// replace makes c the circle. The one before is remembered for as long as what it said matters. The caller holds the
// exclusive cut.
func (p *agent) replace(c *ownership.View, now time.Time) {
	if was := p.views.Load(); was != nil {
		p.previousViews.Add(was, now, p.grace)
	}
	p.views.Store(c)
	p.leases.UseView(c, p.expected, now)
}

// NotBefore is when a site may be visited that was another agent's a moment ago, who may just have asked for something,
// and if that agent has given it away in good order, when that one said; zero for any other, and if that has passed.
func (p *agent) NotBefore(site []byte) time.Time {
	now := time.Now()
	due := p.previousViews.SettledAt(time.Unix(0, p.cautiousUntil.Load()), now, p.grace,
		func(c *ownership.View) bool { return c.Owns(site) })
	if !now.Before(due) {
		return time.Time{}
	}
	if told, ok := p.inOrder.get(site); ok {
		due = told
	}
	if !now.Before(due) {
		return time.Time{}
	}
	return due
}
