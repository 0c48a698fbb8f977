package outbox

import (
	"errors"
	"fmt"

	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// add opens the queues of an agent; new ones without a checkpoint. The caller holds the
// lock, as for all functions of this file.
func (b *Outbox) add(agent string, number int, c *QueueCheckpoint) (err error) {
	q := &agentQueue{number: number, wake: make(chan struct{}, 1)}
	var backlog, retained *diskq.Checkpoint
	if c != nil {
		backlog, retained = &c.Backlog, &c.Retained
	}
	if q.backlog.queue, err = b.files.open(number, backlogSuffix, backlog); err != nil {
		return err
	}
	if q.retained.queue, err = b.files.open(number, retainedSuffix, retained); err != nil {
		return errors.Join(err, q.backlog.queue.Close())
	}
	b.mu.agents[agent] = q
	q.wakeIfMore()
	return nil
}

// remove closes the queues of an agent. Outbox.Release removes the files later.
func (b *Outbox) remove(agent string) error {
	q := b.mu.agents[agent]
	delete(b.mu.agents, agent)
	b.mu.removed = append(b.mu.removed, q.number)
	return q.close()
}

// recordError keeps the first permanent error.
func (b *Outbox) recordError(err error) {
	if err != nil && b.mu.err == nil && !vfs.IsPassing(err) {
		b.mu.err = err
	}
}

// restore adds the items that were not on disk. Batches that were in flight are sent again (K1).
func (b *Outbox) restore(inMemory []byte) error {
	for len(inMemory) > 0 {
		agent, rest, ok1 := cutItem(inMemory)
		unacknowledged, rest, ok2 := cutItem(rest)
		retained, rest, ok3 := cutItem(rest)
		if !ok1 || !ok2 || !ok3 {
			return ErrMalformed
		}
		inMemory = rest
		q := b.mu.agents[string(agent)]
		if q == nil {
			return fmt.Errorf("%w: for %q, which has no queue", ErrMalformed, agent)
		}
		for item, err := range Items(retained) {
			if err != nil {
				return err
			}
			if err := q.retained.put(item); err != nil {
				b.recordError(err)
			}
		}
		if err := q.restoreBatches(unacknowledged, &b.o); err != nil {
			return err
		}
		notify.Send(q.wake)
	}
	return nil
}
