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
	p.leases.keep(c, p.expected, now, p.grace)
}

// SettledAt is from when on nobody else acts any more as if something were its own that is this agent's now, by all that
// was so of late, if that is after a moment. Others may learn a little later than this agent that it is.
func settled[T any](p *agent, former *ownership.History[T], after time.Time, own func(was T) bool) time.Time {
	return former.SettledAt(time.Unix(0, p.cautiousUntil.Load()), after, p.grace, own)
}

// NotBefore is when a site may be visited that was another agent's a moment ago, who may just have asked for something,
// and if that agent has given it away in good order, when that one said; zero for any other, and if that has passed.
func (p *agent) NotBefore(site []byte) time.Time {
	now := time.Now()
	due := settled(p, &p.previousViews, now, func(c *ownership.View) bool { return c.Owns(site) })
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
