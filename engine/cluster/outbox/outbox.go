package outbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
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
	fsys vfs.FS
	o    Options

	mu      sync.Mutex
	agents  map[string]*agentQueue
	next    int   // number of the next queue
	removed []int // numbers of removed queues whose files the last checkpoint may need
	// lastSequence is the sequence of the newest batch.
	lastSequence uint64
	err          error // permanent error of a queue: no batch is taken any more
}

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

// The queues of agent number 3 are the directories 3-out and 3-told.
const (
	backlogSuffix  = "out"
	retainedSuffix = "told"
)

// Open opens an Outbox at a checkpoint, with the bytes that belong to it. Without a checkpoint it is empty.
func Open(fsys vfs.FS, o Options, c *Checkpoint, inMemory []byte) (_ *Outbox, err error) {
	b := &Outbox{fsys: fsys, o: o.WithDefaults(), agents: make(map[string]*agentQueue)}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if c == nil {
		return b, nil
	}
	b.next = c.Next
	for agent, positions := range c.Agents {
		if err := b.addAgent(agent, positions.Number, &positions); err != nil {
			return nil, err
		}
	}
	return b, b.restore(inMemory)
}

// addAgent opens the queues of an agent; new ones without a checkpoint.
func (b *Outbox) addAgent(agent string, number int, c *QueueCheckpoint) (err error) {
	q := &agentQueue{number: number, wake: make(chan struct{}, 1)}
	var backlog, retained *diskq.Checkpoint
	if c != nil {
		backlog, retained = &c.Backlog, &c.Retained
	}
	if q.backlog.queue, err = b.openQueue(number, backlogSuffix, backlog); err != nil {
		return err
	}
	if q.retained.queue, err = b.openQueue(number, retainedSuffix, retained); err != nil {
		return errors.Join(err, q.backlog.queue.Close())
	}
	b.agents[agent] = q
	if q.backlog.queue.Len() > 0 {
		notify.Send(q.wake)
	}
	return nil
}

func (b *Outbox) openQueue(number int, suffix string, c *diskq.Checkpoint) (*diskq.Queue, error) {
	dir := fmt.Sprintf("%s/%d-%s", b.o.Dir, number, suffix)
	q, err := diskq.Open(b.fsys, diskq.Options{Dir: dir, SegmentBytes: b.o.SegmentBytes}, c)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return q, nil
}

// EnsureAgent makes the queues of an agent if there are none. The returned channel receives a value when there is
// something to take.
func (b *Outbox) EnsureAgent(agent string) (wake <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agents[agent] == nil {
		if err := b.addAgent(agent, b.next, nil); err != nil {
			return nil, err
		}
		b.next++
	}
	return b.agents[agent].wake, nil
}

// Put adds an item to the backlog and to the retained items of an agent, which must have queues. It borrows the item,
// and never waits.
func (b *Outbox) Put(agent string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.agents[agent]
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
	if q := b.agents[agent]; q != nil {
		b.recordError(q.backlog.put(item))
		notify.Send(q.wake)
	}
}

// PutRetained adds an item to the retained items only: the agent has it already. It does nothing if the agent has no
// queues.
func (b *Outbox) PutRetained(agent string, item []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.agents[agent]; q != nil {
		b.recordError(q.retained.put(item))
	}
}

// recordError keeps the first permanent error.
func (b *Outbox) recordError(err error) {
	if err != nil && b.err == nil && !vfs.IsPassing(err) {
		b.err = fmt.Errorf("outbox: %w", err)
	}
}

// HasOverflow reports that items are in memory because the disk is full, or that there is a permanent error. Then no
// item should be added until Spill has returned nil.
func (b *Outbox) HasOverflow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return true
	}
	for _, q := range b.agents {
		if q.backlog.overflowItems+q.retained.overflowItems > 0 {
			return true
		}
	}
	return false
}

// Spill writes items that are in memory to disk. While the disk is full it returns an error that vfs.IsPassing
// recognizes.
func (b *Outbox) Spill() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	for _, q := range b.agents {
		for _, part := range []*overflowQueue{&q.backlog, &q.retained} {
			if err := part.spill(); err != nil {
				b.recordError(err)
				return err
			}
		}
		notify.Send(q.wake)
	}
	return nil
}

// TakeBatch takes the next batch for an agent, in order (K2); nil if there is none.
func (b *Outbox) TakeBatch(agent string) (*Batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.agents[agent]
	if q == nil || q.removing || b.err != nil {
		return nil, b.err
	}
	batch := &Batch{queue: q}
	if len(q.returned) > 0 {
		batch, q.returned = q.returned[0], q.returned[1:]
	} else if err := b.fillBatch(batch); err != nil {
		return nil, err
	}
	if batch.Items == 0 {
		return nil, nil //nolint:nilnil // as the comment says
	}
	if batch.Sequence == 0 {
		b.lastSequence++
		batch.Sequence = b.lastSequence
	}
	q.inFlight = append(q.inFlight, batch)
	if len(q.returned) > 0 || q.backlog.queue.Len() > 0 {
		notify.Send(q.wake) // for another goroutine that takes from this queue
	}
	return batch, nil
}

// fillBatch reads items from the backlog.
func (b *Outbox) fillBatch(batch *Batch) error {
	var item []byte
	for batch.Items < b.o.BatchItems && len(batch.Bytes) < b.o.BatchBytes {
		var ok bool
		var err error
		item, ok, err = batch.queue.backlog.queue.Read(item[:0])
		if err != nil {
			b.recordError(err)
			err = fmt.Errorf("outbox: %w", err)
		}
		if err != nil && batch.Items == 0 {
			return err
		}
		if err != nil || !ok {
			return nil //nolint:nilerr // what was read is sent; the next call returns the error
		}
		batch.Bytes = AppendItem(batch.Bytes, item)
		batch.Items++
	}
	return nil
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

// RemoveAgent removes an agent that is lost, step by step. Each call yields at most n of the retained items, the oldest
// first (K3). When there are none left, it removes the queues and returns true. From the first call on the agent has no
// backlog, and Acknowledge and Return of its batches do nothing. After an error the next call continues with the items
// that f has not seen.
func (b *Outbox) RemoveAgent(agent string, n int, f func(item []byte)) (done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.agents[agent]
	if q == nil {
		return true, nil
	}
	for _, batches := range [2]*[]*Batch{&q.inFlight, &q.returned} {
		for _, batch := range *batches {
			batch.queue = nil
		}
		*batches = nil
	}
	q.backlog.overflow, q.backlog.overflowItems, q.removing = nil, 0, true
	if done, err = q.yieldRetained(n, f); done {
		return true, b.removeQueues(agent)
	}
	b.recordError(err)
	return false, err
}

// DrainRetained yields at most n of the retained items of an agent, the oldest first, and removes them: another agent
// retains them from now on. It returns true if there are none left. The backlog does not change.
func (b *Outbox) DrainRetained(agent string, n int, f func(item []byte)) (done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.agents[agent]
	if q == nil {
		return true, nil
	}
	done, err = q.yieldRetained(n, f)
	b.recordError(err)
	return done, err
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

// RemoveIdle removes the queues of an agent without a backlog: it has left, and other agents have all that it knew.
func (b *Outbox) RemoveIdle(agent string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agents[agent] == nil {
		return nil
	}
	return b.removeQueues(agent)
}

// removeQueues closes the queues of an agent. Release removes the files later.
func (b *Outbox) removeQueues(agent string) error {
	q := b.agents[agent]
	delete(b.agents, agent)
	b.removed = append(b.removed, q.number)
	return q.close()
}

func (q *agentQueue) close() error {
	return errors.Join(q.backlog.queue.Close(), q.retained.queue.Close())
}

// Backlog is the number of items that an agent has not acknowledged, and how many of them are in flight.
func (b *Outbox) Backlog(agent string) (total, inFlight int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.agents[agent]
	if q == nil {
		return 0, 0
	}
	for _, batch := range q.inFlight {
		inFlight += batch.Items
	}
	total = inFlight + q.backlog.size()
	for _, batch := range q.returned {
		total += batch.Items
	}
	return total, inFlight
}

// Agents returns the agents that have queues, sorted.
func (b *Outbox) Agents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.agents))
}

// Close closes the files. Changes since the last Checkpoint are lost.
func (b *Outbox) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, q := range b.agents {
		errs = append(errs, q.close())
	}
	b.agents = nil
	return errors.Join(errs...)
}
