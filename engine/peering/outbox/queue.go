package outbox

import (
	"errors"
	"fmt"
	"slices"

	"orbweaver/internal/notify"
)

// agentQueue has the items of one agent. The lock of the Outbox guards it.
type agentQueue struct {
	number   int
	wake     chan struct{} // capacity 1: there is something to take
	backlog  overflowQueue // to be sent
	retained overflowQueue // sent or not, since the queue was made
	returned []*Batch      // to be sent again, the oldest first
	inFlight []*Batch
	removing bool // RemoveAgent has begun
}

// Batch is a sequence of items. It belongs to its taker until Acknowledge or Return.
type Batch struct {
	Items int
	Bytes []byte // the items in the form of AppendItem
	// Sequence is unique among the batches of this Outbox, from 1. A returned batch keeps it.
	Sequence uint64
	queue    *agentQueue // nil if the queue was removed
}

// isFull says that a batch has as much as the options allow.
func (o *Options) isFull(batch *Batch) bool {
	return batch.Items >= o.BatchItems || len(batch.Bytes) >= o.BatchBytes
}

// nextBatch is the oldest returned batch, or a batch of items from the backlog. It has no items if there are none. The
// batch has its items also with an error: then the next call has the error again.
func (q *agentQueue) nextBatch(o *Options) (*Batch, error) {
	if len(q.returned) > 0 {
		batch := q.returned[0]
		q.returned = q.returned[1:]
		return batch, nil
	}
	batch := &Batch{queue: q}
	var item []byte
	for !o.isFull(batch) {
		var ok bool
		var err error
		item, ok, err = q.backlog.queue.Read(item[:0])
		if err != nil {
			return batch, fmt.Errorf("outbox: %w", err)
		}
		if !ok {
			break
		}
		batch.Bytes = AppendItem(batch.Bytes, item)
		batch.Items++
	}
	return batch, nil
}

// wakeIfMore wakes another goroutine that takes from this queue, if there is something to take.
func (q *agentQueue) wakeIfMore() {
	if len(q.returned) > 0 || q.backlog.queue.Len() > 0 {
		notify.Send(q.wake)
	}
}

// endFlight removes a batch from those in flight. It returns nil if the queue was removed.
func (b *Batch) endFlight() *agentQueue {
	q := b.queue
	if q == nil {
		return nil
	}
	i := slices.Index(q.inFlight, b)
	if i < 0 {
		panic("BUG: outbox: a batch that is not in flight")
	}
	q.inFlight, b.queue = slices.Delete(q.inFlight, i, i+1), nil
	return q
}

// dropBacklog begins the removal: only retained items are left.
func (q *agentQueue) dropBacklog() {
	for _, batches := range [2]*[]*Batch{&q.inFlight, &q.returned} {
		for _, batch := range *batches {
			batch.queue = nil
		}
		*batches = nil
	}
	q.backlog.overflow, q.backlog.overflowItems, q.removing = nil, 0, true
}

// yieldRetained yields at most n items from disk. Those in memory follow when none is left on disk.
func (q *agentQueue) yieldRetained(n int, f func(item []byte)) (done bool, err error) {
	var item []byte
	for range n {
		var ok bool
		if item, ok, err = q.retained.queue.Read(item[:0]); err != nil {
			return false, fmt.Errorf("outbox: %w", err)
		}
		if !ok {
			eachItem(q.retained.overflow, f)
			q.retained.overflow, q.retained.overflowItems = nil, 0
			return true, nil
		}
		f(item)
	}
	return false, nil
}

// counts counts the items.
func (q *agentQueue) counts() (c Counts) {
	for _, batch := range q.inFlight {
		c.InFlight += batch.Items
	}
	c.Backlog = c.InFlight + q.backlog.size()
	for _, batch := range q.returned {
		c.Backlog += batch.Items
	}
	c.Retained = q.retained.size()
	return c
}

// unacknowledged are the items of the backlog that are not on disk.
func (q *agentQueue) unacknowledged() (items []byte) {
	for _, batches := range [2][]*Batch{q.inFlight, q.returned} {
		for _, batch := range batches {
			items = append(items, batch.Bytes...)
		}
	}
	return append(items, q.backlog.overflow...)
}

// restoreBatches makes returned batches of items that were not acknowledged.
func (q *agentQueue) restoreBatches(unacknowledged []byte, o *Options) error {
	batch := &Batch{queue: q}
	for item, err := range Items(unacknowledged) {
		if err != nil {
			return err
		}
		batch.Bytes = AppendItem(batch.Bytes, item)
		if batch.Items++; o.isFull(batch) {
			q.returned = append(q.returned, batch)
			batch = &Batch{queue: q}
		}
	}
	if batch.Items > 0 {
		q.returned = append(q.returned, batch)
	}
	return nil
}

// checkpoint returns the positions of the queues.
func (q *agentQueue) checkpoint() (positions QueueCheckpoint, err error) {
	positions.Number = q.number
	if positions.Backlog, err = q.backlog.queue.Checkpoint(); err == nil {
		positions.Retained, err = q.retained.queue.Checkpoint()
	}
	return positions, err
}

func (q *agentQueue) close() error {
	return errors.Join(q.backlog.queue.Close(), q.retained.queue.Close())
}
