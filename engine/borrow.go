package engine

import (
	"context"
	"time"

	"orbweaver/engine/visit"
)

// soonAgain is how long an address is kept for the next exchange, while other agents wait for it.
const soonAgain = 100 * time.Millisecond

// borrow makes sure that no other agent asks the address while this one does; else the Visit is given back, with the
// item that was not asked for; nil for a site's own robots.txt.
func (w *fetchWorker) borrow(ctx context.Context, r *visit.Result, raw []byte) bool {
	var again time.Time
	w.lent, again = w.cluster.Borrow(ctx, w.stopping, r.Visit.Addr, &w.cancels)
	switch rest := w.cluster.NotBefore(r.Visit.Key); {
	case !w.lent:
		r.Release.IPDue = again
	case !w.cluster.Owns(r.Visit.Key): // it went to another agent while others were asked
	case !rest.IsZero(): // and came back
		r.Release.SiteDue = rest
	default:
		return true
	}
	if raw != nil {
		r.Release.Front = [][]byte{raw}
	}
	w.giveBack(r, nil)
	return false
}

// giveAddress lets others ask the address again, if an exchange with it was under way.
func (w *fetchWorker) giveAddress(r *visit.Result) {
	if !w.lent {
		return
	}
	w.lent = false
	due := r.Release.IPDue
	if due.Before(r.Release.SiteDue) && !w.cluster.Owns(r.Visit.Key) { // its new owner knows nothing of this exchange
		due = r.Release.SiteDue
	}
	more := func(due time.Time) bool { return !due.IsZero() && due.Before(r.Release.IPDue.Add(soonAgain)) }
	w.cluster.GiveAddress(r.Visit.Addr, due, more(r.Visit.NextDue) || more(r.Release.SiteDue))
}
