package schedule

import (
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
)

// orderedURLs are the ready URLs in the queues of an order. It counts them itself, since the Distributor asks at each
// step, and a crawl in the order of discovery has none.
type orderedURLs struct {
	current *order.Current
	order   order.Policy // in force since the last adopt
	onDisk  sites.DiskQueues
	total   uint64
	others  []int // queues that another order has left: these URLs are older, and come first
}

// newOrderedURLs returns the queues on disk, with what an earlier run has left in them.
func newOrderedURLs(current *order.Current, onDisk sites.DiskQueues) *orderedURLs {
	u := &orderedURLs{current: current, onDisk: onDisk}
	u.count()
	return u
}

// count gives the order in force the queues on disk.
func (u *orderedURLs) count() {
	u.order, u.total, u.others = u.current.Policy(), 0, nil
	for queue, n := range u.onDisk.EachOrdered {
		u.total += n
		if u.order.Owns(queue) {
			u.order.Add(queue, n)
		} else {
			u.others = append(u.others, queue)
		}
	}
}

// adopt takes the order that an operator wants, if there is one. It holds for what is queued from now on.
func (u *orderedURLs) adopt() {
	if u.current.Adopt() {
		u.count()
	}
}

// add puts a ready URL in the queue of its order.
func (u *orderedURLs) add(item []byte) error {
	it := queued.MustDecode(item)
	queue := u.order.QueueOf(&it)
	err := u.onDisk.AppendOrdered(queue, item)
	if err == nil {
		u.order.Add(queue, 1)
		u.total++
	}
	return err
}

// take removes the URL that is next; n is 0 if there is none. A URL that was emitted is removed, also before an error.
func (u *orderedURLs) take(emit func(item []byte)) (n int, err error) {
	if len(u.others) > 0 {
		queue := u.others[0]
		n, err = u.onDisk.TakeOrdered(queue, emit)
		u.total -= uint64(n)
		if u.onDisk.Ordered(queue) == 0 {
			u.others = u.others[1:]
		}
		return n, err
	}
	queue, ok := u.order.Next()
	if !ok {
		return 0, nil
	}
	n, err = u.onDisk.TakeOrdered(queue, emit)
	if u.total -= uint64(n); n > 0 {
		u.order.Took(queue)
	}
	return n, err
}
