package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"orbweaver/internal/notify"
	"orbweaver/virtualize/diskq"
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

// ErrMalformed means that bytes are not a sequence of items.
var ErrMalformed = errors.New("outbox: malformed items")

// AppendItem appends an item in the form that Items reads: its length as a uvarint, then its bytes.
func AppendItem(dst, item []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(item))), item...)
}

// cutItem splits b behind its first item.
func cutItem(b []byte) (item, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

// mustCutItem is cutItem for bytes that this package has written.
func mustCutItem(b []byte) (item, rest []byte) {
	item, rest, ok := cutItem(b)
	if !ok {
		panic("BUG: outbox: own items cannot be read")
	}
	return item, rest
}

// eachItem calls f for each item of bytes that this package has written.
func eachItem(b []byte, f func(item []byte)) {
	for len(b) > 0 {
		var item []byte
		item, b = mustCutItem(b)
		f(item)
	}
}

// Items yields the items of a batch, which share its memory. Another agent may have sent the bytes, so they can be
// malformed: then the last error is ErrMalformed.
func Items(batch []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(batch) > 0 {
			item, rest, ok := cutItem(batch)
			if !ok {
				yield(nil, ErrMalformed)
				return
			}
			if !yield(item, nil) {
				return
			}
			batch = rest
		}
	}
}

// overflowQueue is a queue on disk that accepts items also while the disk is full (K4). Then items stay in memory,
// behind those on disk.
type overflowQueue struct {
	queue         *diskq.Queue
	overflow      []byte // items in the form of AppendItem
	overflowItems int
}

// put adds an item. The item is in the queue also after an error, which says why it is in memory.
func (q *overflowQueue) put(item []byte) (err error) {
	if q.overflowItems == 0 {
		if err = q.queue.Append(item); err == nil {
			return nil
		}
		err = fmt.Errorf("outbox: %w", err)
	}
	q.overflow = AppendItem(q.overflow, item)
	q.overflowItems++
	return err
}

// spill writes the items in memory to disk, until an error.
func (q *overflowQueue) spill() error {
	for q.overflowItems > 0 {
		item, rest := mustCutItem(q.overflow)
		if err := q.queue.Append(item); err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		q.overflow, q.overflowItems = rest, q.overflowItems-1
	}
	q.overflow = nil
	return nil
}

// size is the number of items on disk and in memory.
func (q *overflowQueue) size() int { return q.overflowItems + int(q.queue.Len()) }
