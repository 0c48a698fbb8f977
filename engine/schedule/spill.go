package schedule

import (
	"time"

	"orbweaver/engine/queued"
)

// Spill lets sites of a full bench that are not due for long, the slow and the broken, give their memory back.
func (d *Distributor) spill(now time.Time) error {
	if !d.Workbench.Full() {
		return nil
	}
	d.vs = d.Workbench.UnloadCandidates(now.Add(spillAfter), d.vs[:0], spillBatch)
	for _, vs := range d.vs {
		if !d.Queues.CanSpill(vs) {
			continue
		}
		d.items, d.ends = d.Workbench.Unload(vs, d.items[:0], d.ends[:0])
		var err error
		hops := d.spillsHops()
		if !hops {
			err = d.Queues.Spill(vs, d.eachSpilled)
		}
		if hops || err != nil { // as if nothing had been; an error is a full disk
			d.eachSpilled(func(item []byte) bool { d.push(vs, item); return true })
		}
		d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
		if err != nil {
			return err
		}
		if !hops {
			d.Spilled.Add(int64(len(d.ends)))
		}
	}
	return nil
}

// spillsHops says that a hop of somebody's robots.txt is among the items: those are in a hurry, and are no URLs.
func (d *Distributor) spillsHops() (found bool) {
	d.eachSpilled(func(raw []byte) bool {
		it := queued.MustDecode(raw)
		found = it.RobotsOf != nil
		return !found
	})
	return found
}

func (d *Distributor) eachSpilled(yield func(item []byte) bool) {
	from := 0
	for _, end := range d.ends {
		if !yield(d.items[from:end]) {
			return
		}
		from = end
	}
}
