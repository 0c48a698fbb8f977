package schedule

import (
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
)

// readyClasses are the queues of ready URLs by their class. It counts them itself, since the Distributor asks at each
// step, and a crawl in the order of discovery has none.
type readyClasses struct {
	order  order.Policy
	onDisk sites.DiskQueues
	turn   order.Turn
	counts [order.Classes]uint64
	total  uint64
}

// newReadyClasses returns the queues on disk, with what an earlier run has left in them.
func newReadyClasses(policy order.Policy, onDisk sites.DiskQueues) *readyClasses {
	c := &readyClasses{order: policy, onDisk: onDisk}
	for class := range c.counts {
		c.counts[class] = onDisk.OfClass(class)
		c.total += c.counts[class]
	}
	return c
}

// add gives a ready URL its class, and adds it to the queue of that class.
func (c *readyClasses) add(item []byte) error {
	it := queued.MustDecode(item)
	class := c.order.Class(it.Rest)
	err := c.onDisk.AppendOfClass(class, item)
	if err == nil {
		c.counts[class]++
		c.total++
	}
	return err
}

// take removes the URL that is next; n is 0 if there is none. A URL that was emitted is removed, also before an error.
func (c *readyClasses) take(emit func(item []byte)) (n int, err error) {
	class, ok := c.turn.Next(&c.counts)
	if !ok {
		return 0, nil
	}
	n, err = c.onDisk.TakeOfClass(class, emit)
	c.counts[class] -= uint64(n)
	c.total -= uint64(n)
	return n, err
}
