package engine

import (
	"time"

	"orbweaver/engine/queued"
)

// Spill lets sites of a full bench that are not due for long, the slow and the broken, give their memory back.
func (d *distributor) spill(now time.Time) error {
	if !d.bench.Full() {
		return nil
	}
	d.vs = d.bench.UnloadCandidates(now.Add(spillAfter), d.vs[:0], spillBatch)
	for _, vs := range d.vs {
		if !d.queues.CanSpill(vs) {
			continue
		}
		d.spilled, d.ends = d.bench.Unload(vs, d.spilled[:0], d.ends[:0])
		var err error
		hops := d.spillsHops()
		if !hops {
			err = d.queues.Spill(vs, d.eachSpilled)
		}
		if hops || err != nil { // as if nothing had been; an error is a full disk
			d.eachSpilled(func(item []byte) bool { d.push(vs, item); return true })
		}
		d.bench.SetOnDisk(vs, d.queues.Len(vs))
		if err != nil {
			return err
		}
		if !hops {
			d.spills.Add(int64(len(d.ends)))
		}
	}
	return nil
}

// spillsHops says that a hop of somebody's robots.txt is among the items: those are in a hurry, and are no URLs.
func (d *distributor) spillsHops() (found bool) {
	d.eachSpilled(func(raw []byte) bool {
		it := queued.MustDecode(raw)
		found = it.RobotsOf != nil
		return !found
	})
	return found
}

func (d *distributor) eachSpilled(yield func(item []byte) bool) {
	from := 0
	for _, end := range d.ends {
		if !yield(d.spilled[from:end]) {
			return
		}
		from = end
	}
}
