package outbox

import (
	"errors"
	"fmt"
	"slices"

	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// queueTable has the queues of all agents. The lock of the Outbox guards it.
type queueTable struct {
	files   queueFiles
	agents  map[string]*agentQueue
	next    int   // number of the next queue
	removed []int // numbers of removed queues whose files the last checkpoint may need
	err     error // permanent error of a queue: no batch is taken any more
}

// add opens the queues of an agent; new ones without a checkpoint.
func (t *queueTable) add(agent string, number int, c *QueueCheckpoint) (err error) {
	q := &agentQueue{number: number, wake: make(chan struct{}, 1)}
	var backlog, retained *diskq.Checkpoint
	if c != nil {
		backlog, retained = &c.Backlog, &c.Retained
	}
	if q.backlog.queue, err = t.files.open(number, backlogSuffix, backlog); err != nil {
		return err
	}
	if q.retained.queue, err = t.files.open(number, retainedSuffix, retained); err != nil {
		return errors.Join(err, q.backlog.queue.Close())
	}
	t.agents[agent] = q
	q.wakeIfMore()
	return nil
}

// ensure returns the queues of an agent, and makes them if there are none.
func (t *queueTable) ensure(agent string) (*agentQueue, error) {
	if t.agents[agent] == nil {
		if err := t.add(agent, t.next, nil); err != nil {
			return nil, err
		}
		t.next++
	}
	return t.agents[agent], nil
}

// remove closes the queues of an agent. Outbox.Release removes the files later.
func (t *queueTable) remove(agent string) error {
	q := t.agents[agent]
	delete(t.agents, agent)
	t.removed = append(t.removed, q.number)
	return q.close()
}

// recordError keeps the first permanent error.
func (t *queueTable) recordError(err error) {
	if err != nil && t.err == nil && !vfs.IsPassing(err) {
		t.err = err
	}
}

// hasOverflow reports that items are in memory because the disk is full.
func (t *queueTable) hasOverflow() bool {
	for _, q := range t.agents {
		if q.backlog.overflowItems+q.retained.overflowItems > 0 {
			return true
		}
	}
	return false
}

// spill writes items that are in memory to disk, until an error.
func (t *queueTable) spill() error {
	for _, q := range t.agents {
		for _, part := range []*overflowQueue{&q.backlog, &q.retained} {
			if err := part.spill(); err != nil {
				return err
			}
		}
		notify.Send(q.wake)
	}
	return nil
}

// checkpoint is Outbox.Checkpoint.
func (t *queueTable) checkpoint() (c Checkpoint, inMemory []byte, err error) {
	c = Checkpoint{
		Next: t.next, Agents: make(map[string]QueueCheckpoint, len(t.agents)), removed: slices.Clone(t.removed),
	}
	for agent, q := range t.agents {
		if c.Agents[agent], err = q.checkpoint(); err != nil {
			return Checkpoint{}, nil, fmt.Errorf("outbox: %w", err)
		}
		unacknowledged := q.unacknowledged()
		if len(unacknowledged)+len(q.retained.overflow) > 0 {
			inMemory = AppendItem(AppendItem(AppendItem(inMemory, []byte(agent)), unacknowledged), q.retained.overflow)
		}
	}
	return c, inMemory, nil
}

// restore adds the items that were not on disk. Batches that were in flight are sent again (K1).
func (t *queueTable) restore(inMemory []byte, limit batchLimit) error {
	for len(inMemory) > 0 {
		agent, rest, ok1 := cutItem(inMemory)
		unacknowledged, rest, ok2 := cutItem(rest)
		retained, rest, ok3 := cutItem(rest)
		if !ok1 || !ok2 || !ok3 {
			return ErrMalformed
		}
		inMemory = rest
		q := t.agents[string(agent)]
		if q == nil {
			return fmt.Errorf("%w: for %q, which has no queue", ErrMalformed, agent)
		}
		for item, err := range Items(retained) {
			if err != nil {
				return err
			}
			if err := q.retained.put(item); err != nil {
				t.recordError(err)
			}
		}
		if err := q.restoreBatches(unacknowledged, limit); err != nil {
			return err
		}
		notify.Send(q.wake)
	}
	return nil
}

// diskQueues returns backlog and retained items of each agent. They may be closed when the lock is free again.
func (t *queueTable) diskQueues() map[string][2]*diskq.Queue {
	all := make(map[string][2]*diskq.Queue, len(t.agents))
	for agent, q := range t.agents {
		all[agent] = [2]*diskq.Queue{q.backlog.queue, q.retained.queue}
	}
	return all
}

// close closes all queues.
func (t *queueTable) close() error {
	var errs []error
	for _, q := range t.agents {
		errs = append(errs, q.close())
	}
	t.agents = nil
	return errors.Join(errs...)
}
