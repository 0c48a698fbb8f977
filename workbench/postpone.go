package workbench

import "time"

// Hasten brings the due time of a site forward to due, if it is later, for a wait that the caller imposed and does not need any more. It does
// nothing to a leased site. It is the one method that moves a due time back.
func (w *Workbench[S]) Hasten(vs *VisitState[S], due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	until := w.clock.offset(due)
	if s.has(flagLeased) || s.due <= until {
		return
	}
	w.touch(s)
	s.due = until
	w.settle(s, s.state())
}

// Anchor says of a workbench that was just loaded that now is the moment at which the clock that its due times were written
// by shows was. Without it the wall clock is believed.
func (w *Workbench[S]) Anchor(now, was time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.anchorAt(now, was)
}

// Due is when a site may be visited next, as far as the site goes; zero if it never has been.
func (w *Workbench[S]) Due(vs *VisitState[S]) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock.time(w.of(vs).due)
}

// Postpone moves the due times of a site, and of the IP it is placed under, into the future: for an exchange that the
// bench has not seen, since it was made after the snapshot and before a crash, or for a delay that was learned elsewhere. A
// due time never goes back; zero leaves it as it is. It may be called while the site, or another of its IP, is leased: the
// later of this and of what the Release says will hold.
func (w *Workbench[S]) Postpone(vs *VisitState[S], siteDue, ipDue time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	w.touch(s)
	s.due = max(s.due, w.clock.offset(siteDue))
	if s.entry != 0 {
		w.touchEntry(s.entry)
		e := w.entries.at(s.entry)
		e.due = max(e.due, w.clock.offset(ipDue))
	}
	w.settle(s, s.state())
}
