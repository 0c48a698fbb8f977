package engine

import (
	"context"
	"time"
)

// soonAgain is how long an address is kept for the next exchange, while other agents wait for it.
const soonAgain = 100 * time.Millisecond

// borrow makes sure that no other agent asks the address while this one does; else the Visit is given back, with the
// item that was not asked for; nil for a site's own robots.txt.
func (w *fetchWorker) borrow(ctx context.Context, r *returned, raw []byte) bool {
	if w.peers == nil {
		return true
	}
	var again time.Time
	w.lent, again = w.peers.leases.borrow(ctx, w.stopping, r.visit.Addr, w.wing.open(ctx))
	switch rest := w.peers.notBefore(r.visit.Key); {
	case !w.lent:
		r.release.IPDue = again
	case !w.peers.mine(r.visit.Key): // it went to another agent while others were asked
	case !rest.IsZero(): // and came back
		r.release.SiteDue = rest
	default:
		return true
	}
	if raw != nil {
		r.release.Front = [][]byte{raw}
	}
	w.giveBack(r, nil)
	return false
}

// giveAddress lets others ask the address again, if an exchange with it was under way.
func (w *fetchWorker) giveAddress(r *returned) {
	if !w.lent {
		return
	}
	w.lent = false
	due := r.release.IPDue
	if due.Before(r.release.SiteDue) && !w.peers.mine(r.visit.Key) { // the site went to another agent meanwhile, who knows nothing of this exchange
		due = r.release.SiteDue
	}
	more := func(due time.Time) bool { return !due.IsZero() && due.Before(r.release.IPDue.Add(soonAgain)) }
	w.peers.leases.give(r.visit.Addr, due, more(r.visit.NextDue) || more(r.release.SiteDue))
}
