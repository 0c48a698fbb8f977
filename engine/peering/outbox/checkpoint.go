package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"orbweaver/internal/vfs"
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
	if b.mu.err != nil {
		return Checkpoint{}, nil, b.mu.err
	}
	c = Checkpoint{
		Next: b.mu.next, Agents: make(map[string]QueueCheckpoint, len(b.mu.agents)), removed: slices.Clone(b.mu.removed),
	}
	for agent, q := range b.mu.agents {
		if c.Agents[agent], err = q.checkpoint(); err != nil {
			b.recordError(err)
			return Checkpoint{}, nil, fmt.Errorf("outbox: %w", err)
		}
		unacknowledged := q.unacknowledged()
		if len(unacknowledged)+len(q.retained.overflow) > 0 {
			inMemory = AppendItem(AppendItem(AppendItem(inMemory, []byte(agent)), unacknowledged), q.retained.overflow)
		}
	}
	return c, inMemory, nil
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
	if err := b.files.remove(c.removed); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.removed = slices.DeleteFunc(b.mu.removed,
		func(number int) bool { return slices.Contains(c.removed, number) })
	return nil
}

// diskQueues returns backlog and retained items of each agent. They may be closed when the lock is free again.
func (b *Outbox) diskQueues() map[string][2]*diskq.Queue {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string][2]*diskq.Queue, len(b.mu.agents))
	for agent, q := range b.mu.agents {
		all[agent] = [2]*diskq.Queue{q.backlog.queue, q.retained.queue}
	}
	return all
}

// ErrImage means that the file with the image of a checkpoint is damaged.
var ErrImage = errors.New("the list of unsent messages is damaged")

// AppendChecksum makes the content of the file that holds the image of a checkpoint.
func AppendChecksum(image []byte) []byte {
	return binary.LittleEndian.AppendUint32(image, crc32.Checksum(image, crc32.MakeTable(crc32.Castagnoli)))
}

// ReadImage reads that file.
func ReadImage(fsys vfs.FS, name string) ([]byte, error) {
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	size := len(b) - 4
	if size < 0 || crc32.Checksum(b[:size], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[size:]) {
		return nil, fmt.Errorf("outbox: %w: %s", ErrImage, name)
	}
	return b[:size], nil
}
