package engine

import (
	"slices"
	"time"
)

// formerCircle is who was responsible before, and until when.
type formerCircle struct {
	*circle
	until time.Time
}

// replace makes c the circle. The one before is remembered for as long as what it said matters. The caller holds the exclusive cut.
func (p *peers) replace(c *circle, now time.Time) {
	was := p.circle.Load()
	p.remember(func(former []formerCircle) []formerCircle {
		former = slices.DeleteFunc(former, func(f formerCircle) bool { return now.Sub(f.until) >= p.grace })
		if was != nil {
			former = append(former, formerCircle{was, now})
		}
		return former
	})
	p.circle.Store(c)
}

// before is the circle that this one replaced; nil if it is the first.
func (p *peers) before() *circle {
	if former := p.former.Load(); former != nil && len(*former) > 0 {
		return (*former)[len(*former)-1].circle
	}
	return nil
}

// restart lets the circle before count until now: nobody has acted by this one yet.
func (p *peers) restart(now time.Time) {
	p.remember(func(former []formerCircle) []formerCircle {
		if n := len(former); n > 0 {
			former[n-1].until = now
		}
		return former
	})
}

// remember changes the circles before, of which change gets a copy.
func (p *peers) remember(change func(former []formerCircle) []formerCircle) {
	for {
		was := p.former.Load()
		var former []formerCircle
		if was != nil {
			former = slices.Clone(*was)
		}
		former = change(former)
		if p.former.CompareAndSwap(was, &former) {
			return
		}
	}
}

// settledFrom is from when on nobody else acts any more as if something were its own that is this agent's now, by every circle of late, if that
// is after a moment. Others may learn a little later than this agent that it is.
func (p *peers) settledFrom(after time.Time, own func(c *circle) bool) time.Time {
	from := time.Unix(0, p.guest.Load())
	for _, f := range *p.former.Load() {
		if due := f.until.Add(p.grace); due.After(after) && due.After(from) && !own(f.circle) {
			from = due
		}
	}
	return from
}

// notBefore is when a site may be visited that was another agent's a moment ago, who may just have asked for something; zero for any
// other, and if that agent has given it away in good order.
func (p *peers) notBefore(site []byte) time.Time {
	due := p.rested(site)
	if !due.IsZero() && p.inOrder.has(site) {
		return time.Time{}
	}
	return due
}

func (p *peers) rested(site []byte) time.Time {
	now := time.Now()
	due := p.settledFrom(now, func(c *circle) bool { return c.mine(site) })
	if !now.Before(due) {
		return time.Time{}
	}
	return due
}
