package workbench

import "time"

// Hasten moves a later due time of a site back to due, for a delay that the caller set and no longer needs. It does
// nothing to a leased site. No other method moves a due time back.
func (w *Workbench[S]) Hasten(vs *VisitState[S], due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sites.of(vs)
	until := w.clock.offset(due)
	if s.has(flagLeased) || s.due <= until {
		return
	}
	w.touch(s)
	s.due = until
	w.reconcile(s, s.state())
}

// Anchor sets the clock of a workbench that was just loaded: now is the same moment as was on the clock of the
// snapshot. Without Anchor, the wall clock is used.
func (w *Workbench[S]) Anchor(now, was time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.anchorAt(now, was)
}

// Due returns the due time of a site without regard to its IP; zero if the site was never visited.
func (w *Workbench[S]) Due(vs *VisitState[S]) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock.time(w.sites.of(vs).due)
}

// Postpone moves the due times of a site and its IP later. It is for exchanges after the snapshot and before a crash,
// and for delays that were learned elsewhere. It never moves a due time back; a zero time changes nothing. It may be
// called while the site or another site of the IP is leased. The later due time of Postpone and Release is then valid.
func (w *Workbench[S]) Postpone(vs *VisitState[S], siteDue, ipDue time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sites.of(vs)
	w.touch(s)
	s.due = max(s.due, w.clock.offset(siteDue))
	if s.entry != 0 {
		w.ips.touch(s.entry)
		e := w.ips.at(s.entry)
		e.due = max(e.due, w.clock.offset(ipDue))
	}
	w.reconcile(s, s.state())
}
