package schedule

import "time"

// GiveAway is the step of an agent that leaves: everything that is queued goes to other agents. mayGive says whether
// there is another agent. GiveAway reports whether it moved anything.
func (d *Distributor) GiveAway(now time.Time, mayGive func() bool) (moved bool, err error) {
	d.Journal.Steps.Begin()
	defer d.Journal.Steps.End()
	if _, err := d.emptyDeadSites(); err != nil || len(d.unemptied) > 0 {
		return true, err
	}
	moving, err := d.Cluster.GiveSites(now)
	if err != nil || moving {
		return moving, err
	}
	if !mayGive() {
		return false, nil
	}
	if err := d.placeHeld(); err != nil {
		return false, err
	}
	if item := []byte(nil); d.Queues.DelayedSites() > 0 {
		if _, err := d.Queues.TakeOfDelayedSite(func(b []byte) { item = append(item, b...) }); len(item) == 0 {
			return false, err
		}
		if err := d.place(item); err != nil {
			d.Held = item
			return false, err
		}
		return true, nil
	}
	placed, err := d.placeSome()
	return placed > 0, err
}
