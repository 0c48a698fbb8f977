package outbox

import (
	"errors"
	"fmt"
	"slices"

	"orbweaver/internal/notify"
	"orbweaver/virtualize/diskq"
)

// Checkpoint names the positions of all queues. It is part of the manifest.
type Checkpoint struct {
	Next   int                        `json:"next"` // number of the next queue
	Agents map[string]QueueCheckpoint `json:"lines"`

	removed []int // numbers of queues that were removed since the previous checkpoint
}

// QueueCheckpoint names the positions of the queues of one agent.
type QueueCheckpoint struct {
	Number   int              `json:"number"`
	Backlog  diskq.Checkpoint `json:"queue"`
	Retained diskq.Checkpoint `json:"told"`
}

// Checkpoint returns the positions of all queues, and the items that are not on disk, as bytes. The bytes belong to the
// caller, and are needed to open the checkpoint. No other call may run at the same time.
func (b *Outbox) Checkpoint() (c Checkpoint, inMemory []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return Checkpoint{}, nil, b.err
	}
	c = Checkpoint{
		Next: b.next, Agents: make(map[string]QueueCheckpoint, len(b.agents)), removed: slices.Clone(b.removed),
	}
	for agent, q := range b.agents {
		positions := QueueCheckpoint{Number: q.number}
		if positions.Backlog, err = q.backlog.queue.Checkpoint(); err == nil {
			positions.Retained, err = q.retained.queue.Checkpoint()
		}
		if err != nil {
			b.recordError(err)
			return Checkpoint{}, nil, fmt.Errorf("outbox: %w", err)
		}
		c.Agents[agent] = positions
		var unacknowledged []byte
		for _, batches := range [2][]*Batch{q.inFlight, q.returned} {
			for _, batch := range batches {
				unacknowledged = append(unacknowledged, batch.Bytes...)
			}
		}
		unacknowledged = append(unacknowledged, q.backlog.overflow...)
		if len(unacknowledged)+len(q.retained.overflow) > 0 {
			inMemory = AppendItem(AppendItem(AppendItem(inMemory, []byte(agent)), unacknowledged), q.retained.overflow)
		}
	}
	return c, inMemory, nil
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
		q := b.agents[string(agent)]
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

// restoreBatches makes returned batches of items that were not acknowledged.
func (q *agentQueue) restoreBatches(unacknowledged []byte, o *Options) error {
	batch := &Batch{queue: q}
	for item, err := range Items(unacknowledged) {
		if err != nil {
			return err
		}
		batch.Bytes = AppendItem(batch.Bytes, item)
		if batch.Items++; batch.Items >= o.BatchItems || len(batch.Bytes) >= o.BatchBytes {
			q.returned = append(q.returned, batch)
			batch = &Batch{queue: q}
		}
	}
	if batch.Items > 0 {
		q.returned = append(q.returned, batch)
	}
	return nil
}

// Sync makes everything up to the last Checkpoint durable.
func (b *Outbox) Sync() error {
	for _, pair := range b.diskQueues() {
		for _, q := range pair {
			if err := q.Sync(); err != nil && !errors.Is(err, diskq.ErrClosed) {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	return nil
}

// Release removes files that only earlier checkpoints need. It is called when the manifest with c is durable.
func (b *Outbox) Release(c Checkpoint) error {
	queues := b.diskQueues()
	for agent, positions := range c.Agents {
		if pair := queues[agent]; pair[0] != nil {
			err := errors.Join(pair[0].Release(positions.Backlog), pair[1].Release(positions.Retained))
			if err != nil && !errors.Is(err, diskq.ErrClosed) {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	return b.removeFiles(c.removed)
}

// removeFiles removes the files of removed queues.
func (b *Outbox) removeFiles(removed []int) error {
	for _, number := range removed {
		for _, suffix := range []string{backlogSuffix, retainedSuffix} {
			q, err := b.openQueue(number, suffix, nil) // opening without a checkpoint removes the old files
			if err == nil {
				err = q.Close()
			}
			if err != nil {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removed = slices.DeleteFunc(b.removed, func(number int) bool { return slices.Contains(removed, number) })
	return nil
}

// diskQueues returns backlog and retained items of each agent. They may be closed at any time.
func (b *Outbox) diskQueues() map[string][2]*diskq.Queue {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string][2]*diskq.Queue, len(b.agents))
	for agent, q := range b.agents {
		all[agent] = [2]*diskq.Queue{q.backlog.queue, q.retained.queue}
	}
	return all
}
