package queued

import (
	"errors"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// ReadyQueue has the ready URLs of a crawl, as items of package queued. Use Open.
type ReadyQueue struct {
	Urgent *diskq.Queue
	Others *diskq.Queue
}

// ReadyCheckpoint is a state of a Queue that Open can restore. Urgent is nil if a version wrote it that had one queue.
type ReadyCheckpoint struct {
	Urgent *diskq.Checkpoint
	Others diskq.Checkpoint
}

// OpenReady opens the queues of a crawl directory, or makes new ones if cut is nil. o has the options of both.
func OpenReady(fsys vfs.FS, o diskq.Options, dir string, cut *ReadyCheckpoint) (q *ReadyQueue, err error) {
	var urgent, others *diskq.Checkpoint
	if cut != nil {
		urgent, others = cut.Urgent, &cut.Others
	}
	q = new(ReadyQueue)
	o.Dir = dir + "/" + layout.ReadyDir
	if q.Others, err = diskq.Open(fsys, o, others); err != nil {
		return nil, err
	}
	o.Dir = dir + "/" + layout.UrgentDir
	if q.Urgent, err = diskq.Open(fsys, o, urgent); err != nil {
		return nil, errors.Join(err, q.Others.Close())
	}
	return q, nil
}

// Append adds an item behind all others of its class.
func (q *ReadyQueue) Append(item []byte) error {
	if IsUrgent(item) {
		return q.Urgent.Append(item)
	}
	return q.Others.Append(item)
}

// Read removes the oldest urgent item, or else the oldest of the others, and appends it to dst.
func (q *ReadyQueue) Read(dst []byte) (item []byte, ok bool, err error) {
	if item, ok, err = q.Urgent.Read(dst); ok || err != nil {
		return item, ok, err
	}
	return q.Others.Read(dst)
}

// Len returns the number of items.
func (q *ReadyQueue) Len() uint64 { return q.Urgent.Len() + q.Others.Len() }

// Check reads all items and returns the faults.
func (q *ReadyQueue) Check() error { return errors.Join(q.Urgent.Check(), q.Others.Check()) }

// Close closes both queues.
func (q *ReadyQueue) Close() error { return errors.Join(q.Urgent.Close(), q.Others.Close()) }
