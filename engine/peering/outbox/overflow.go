package outbox

import (
	"fmt"

	"orbweaver/virtualize/diskq"
)

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
