package outbox

import (
	"errors"
	"fmt"
	"slices"

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
	if b.queues.err != nil {
		return Checkpoint{}, nil, b.queues.err
	}
	c, inMemory, err = b.queues.checkpoint()
	b.queues.recordError(err)
	return c, inMemory, err
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
	if err := b.queues.files.remove(c.removed); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues.removed = slices.DeleteFunc(b.queues.removed,
		func(number int) bool { return slices.Contains(c.removed, number) })
	return nil
}

// diskQueues is queueTable.diskQueues. The queues may be closed at any time.
func (b *Outbox) diskQueues() map[string][2]*diskq.Queue {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queues.diskQueues()
}
