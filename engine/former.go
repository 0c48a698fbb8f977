package engine

import "time"

// formerCircle is who was responsible before, and until when.
type formerCircle struct {
	*circle
	until time.Time
}

// replace makes c the circle. The one before is remembered for as long as what it said matters. The caller holds the exclusive cut.
func (p *peers) replace(c *circle, now time.Time) {
	var former []formerCircle
	if known := p.former.Load(); known != nil {
		for _, f := range *known {
			if now.Sub(f.until) < p.grace {
				former = append(former, f)
			}
		}
	}
	if was := p.circle.Load(); was != nil {
		former = append(former, formerCircle{was, now})
	}
	p.former.Store(&former)
	p.circle.Store(c)
}

// settledFrom is from when on nobody else acts any more as if something were its own that is this agent's now, by every circle of late; zero
// if that is long ago. Others may learn a little later than this agent that it is.
func (p *peers) settledFrom(own func(c *circle) bool) time.Time {
	from := time.Unix(0, p.guest.Load())
	for _, f := range *p.former.Load() {
		if due := f.until.Add(p.grace); due.After(from) && !own(f.circle) {
			from = due
		}
	}
	return from
}

// notBefore is when a site may be visited that was another agent's a moment ago, who may just have asked for something; zero for any
// other.
func (p *peers) notBefore(site []byte) time.Time {
	due := p.settledFrom(func(c *circle) bool { return c.mine(site) })
	if !time.Now().Before(due) {
		return time.Time{}
	}
	return due
}
