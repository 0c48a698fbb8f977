package outbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
)

// Options of an Outbox. Zero values of all fields but Dir mean the defaults.
type Options struct {
	Dir          string // has a directory for each queue
	SegmentBytes int64  // size of a queue file [16 MiB]
	BatchBytes   int    // a batch ends with the item that reaches this size [128 KiB]
	BatchItems   int    // or this number of items [4096]
}

// WithDefaults returns a copy in which zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.BatchBytes == 0 {
		o.BatchBytes = 128 << 10
	}
	if o.BatchItems == 0 {
		o.BatchItems = 4096
	}
	return o
}

// Outbox holds the messages for other agents. It is safe for concurrent use, except that no other call may run during
// Checkpoint and Check.
type Outbox struct {
	o     Options
	files queueFiles

	mu struct {
		sync.Mutex
		agents       map[string]*agentQueue
		next         int    // number of the next queue
		removed      []int  // numbers of removed queues whose files the last checkpoint may need
		err          error  // permanent error of a queue: no batch is taken any more
		lastSequence uint64 // of the newest batch
	}
}

// Open opens an Outbox at a checkpoint, with the bytes that belong to it. Without a checkpoint it is empty.
func Open(fsys vfs.FS, o Options, c *Checkpoint, inMemory []byte) (_ *Outbox, err error) {
	o = o.WithDefaults()
	b := &Outbox{o: o, files: queueFiles{fsys: fsys, dir: o.Dir, segmentBytes: o.SegmentBytes}}
	b.mu.agents = make(map[string]*agentQueue)
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if c == nil {
		return b, nil
	}
	b.mu.next = c.Next
	for agent, positions := range c.Agents {
		if err := b.add(agent, positions.Number, &positions); err != nil {
			return nil, err
		}
	}
	return b, b.restore(inMemory)
}

// EnsureAgent makes the queues of an agent if there are none. The returned channel receives a value when there is
// something to take.
func (b *Outbox) EnsureAgent(agent string) (wake <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.agents[agent] == nil {
		if err := b.add(agent, b.mu.next, nil); err != nil {
			return nil, err
		}
		b.mu.next++
	}
	return b.mu.agents[agent].wake, nil
}

// Put adds an item to the backlog and to the retained items of an agent, which must have queues. It borrows the item,
// and never waits.
func (b *Outbox) Put(agent string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.mu.agents[agent]
	if q == nil {
		panic(fmt.Sprintf("BUG: outbox: no queue for %q", agent))
	}
	b.recordError(errors.Join(q.backlog.put(item), q.retained.put(item)))
	notify.Send(q.wake)
}

// PutBacklog adds an item to the backlog only: no other agent needs it if this one is lost. It does nothing if the
// agent has no queues.
func (b *Outbox) PutBacklog(agent string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.mu.agents[agent]; q != nil {
		b.recordError(q.backlog.put(item))
		notify.Send(q.wake)
	}
}

// PutRetained adds an item to the retained items only: the agent has it already. It does nothing if the agent has no
// queues.
func (b *Outbox) PutRetained(agent string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.mu.agents[agent]; q != nil {
		b.recordError(q.retained.put(item))
	}
}

// HasOverflow reports that items are in memory because the disk is full, or that there is a permanent error. Then no
// item should be added until Spill has returned nil.
func (b *Outbox) HasOverflow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.mu.agents {
		if q.backlog.overflowItems+q.retained.overflowItems > 0 {
			return true
		}
	}
	return b.mu.err != nil
}

// Spill writes items that are in memory to disk. While the disk is full it returns an error that vfs.IsPassing
// recognizes.
func (b *Outbox) Spill() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.mu.agents {
		if b.mu.err != nil {
			break
		}
		for _, part := range []*overflowQueue{&q.backlog, &q.retained} {
			if err := part.spill(); err != nil {
				b.recordError(err)
				return err
			}
		}
		notify.Send(q.wake)
	}
	return b.mu.err
}

// TakeBatch takes the next batch for an agent, in order (K2); nil if there is none.
func (b *Outbox) TakeBatch(agent string) (*Batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.mu.agents[agent]
	if q == nil || q.removing || b.mu.err != nil {
		return nil, b.mu.err
	}
	batch, err := q.nextBatch(&b.o)
	b.recordError(err)
	if batch.Items == 0 {
		q.wakeIfMore() // after an error that passes, the caller tries again
		return nil, err
	}
	if batch.Sequence == 0 {
		b.mu.lastSequence++
		batch.Sequence = b.mu.lastSequence
	}
	q.inFlight = append(q.inFlight, batch)
	q.wakeIfMore()
	return batch, nil
}

// Acknowledge removes a batch: the other agent has it durably.
func (b *Outbox) Acknowledge(batch *Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch.endFlight()
}

// Return gives back a batch that may not have arrived. It is taken again before all newer items.
func (b *Outbox) Return(batch *Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := batch.endFlight(); q != nil {
		batch.queue = q
		q.returned = append(q.returned, batch)
		notify.Send(q.wake)
	}
}

// RemoveAgent removes an agent that is lost, step by step. Each call yields at most n of the retained items, the oldest
// first (K3). When there are none left, it removes the queues and returns true. From the first call on the agent has no
// backlog, and Acknowledge and Return of its batches do nothing. After an error the next call continues with the items
// that f has not seen.
func (b *Outbox) RemoveAgent(agent string, n int, f func(item []byte)) (done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.mu.agents[agent]
	if q == nil {
		return true, nil
	}
	q.dropBacklog()
	if done, err = q.yieldRetained(n, f); done {
		return true, b.remove(agent)
	}
	b.recordError(err)
	return false, err
}

// DrainRetained yields at most n of the retained items of an agent, the oldest first, and removes them: another agent
// retains them from now on. It returns true if there are none left. The backlog does not change.
func (b *Outbox) DrainRetained(agent string, n int, f func(item []byte)) (done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.mu.agents[agent]
	if q == nil {
		return true, nil
	}
	done, err = q.yieldRetained(n, f)
	b.recordError(err)
	return done, err
}

// RemoveIdle removes the queues of an agent without a backlog: it has left, and other agents have all that it knew.
func (b *Outbox) RemoveIdle(agent string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.agents[agent] == nil {
		return nil
	}
	return b.remove(agent)
}

// Counts are the numbers of items of an agent.
type Counts struct {
	Backlog  int // not acknowledged
	InFlight int // of these
	Retained int
}

// Counts counts the items of an agent; none if it has no queues.
func (b *Outbox) Counts(agent string) Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.mu.agents[agent]; q != nil {
		return q.counts()
	}
	return Counts{}
}

// Agents returns the agents that have queues, sorted.
func (b *Outbox) Agents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.mu.agents))
}

// Close closes the files. Changes since the last Checkpoint are lost.
func (b *Outbox) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, q := range b.mu.agents {
		errs = append(errs, q.close())
	}
	b.mu.agents = nil
	return errors.Join(errs...)
}
