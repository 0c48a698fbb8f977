package workbench

import "time"

// Postpone moves the due times of a site and of the IP it is placed under forward: an exchange that the bench did not
// see, since it was made before a crash and after the snapshot. Times never go back; zero leaves one as it is. It does
// nothing to a site whose Visit is out: its Release will say.
func (w *Workbench[S]) Postpone(vs *VisitState[S], siteDue, ipDue time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if vs.has(flagLeased) {
		return
	}
	w.touch(vs)
	before := vs.state()
	if !siteDue.IsZero() {
		vs.due = max(vs.due, w.clock.offset(siteDue))
	}
	if e := vs.entry.Load(); e != nil && !ipDue.IsZero() {
		e.due = max(e.due, w.clock.offset(ipDue))
	}
	w.settle(vs, before)
}
