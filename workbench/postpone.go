package workbench

import "time"

// Hasten moves a later due time of a site back to due, for a delay that the caller set and no longer needs. It does
// nothing to a leased site. No other method moves a due time back.
func (w *Workbench[S]) Hasten(vs *VisitState[S], due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	until := c.clock.offset(due)
	if s.has(flagLeased) || s.due <= until {
		return
	}
	c.touch(s)
	s.due = until
	c.reconcile(s, s.state())
}

// Anchor sets the clock of a workbench that was just loaded: now is the same moment as was on the clock of the
// snapshot. Without Anchor, the wall clock is used.
func (w *Workbench[S]) Anchor(now, was time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.contents.clock.anchorAt(now, was)
}

// Due returns the due time of a site without regard to its IP; zero if the site was never visited.
func (w *Workbench[S]) Due(vs *VisitState[S]) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	return c.clock.time(c.sites.of(vs).due)
}

// Postpone moves the due times of a site and its IP later. It is for exchanges after the snapshot and before a crash,
// and for delays that were learned elsewhere. It never moves a due time back; a zero time changes nothing. It may be
// called while the site or another site of the IP is leased. The later due time of Postpone and Release is then valid.
func (w *Workbench[S]) Postpone(vs *VisitState[S], siteDue, ipDue time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	c.touch(s)
	s.due = max(s.due, c.clock.offset(siteDue))
	if s.entry != 0 {
		c.ips.touch(s.entry)
		e := c.ips.at(s.entry)
		e.due = max(e.due, c.clock.offset(ipDue))
	}
	c.reconcile(s, s.state())
}
