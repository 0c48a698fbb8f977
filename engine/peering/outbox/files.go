package outbox

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// The queues of agent number 3 are the directories 3-out and 3-told.
const (
	backlogSuffix  = "out"
	retainedSuffix = "told"
)

// queueFiles opens and removes the files of queues. It has no state, so it needs no lock.
type queueFiles struct {
	fsys         vfs.FS
	dir          string
	segmentBytes int64
}

// open opens a queue; a new one without a checkpoint.
func (f *queueFiles) open(number int, suffix string, c *diskq.Checkpoint) (*diskq.Queue, error) {
	dir := fmt.Sprintf("%s/%d-%s", f.dir, number, suffix)
	q, err := diskq.Open(f.fsys, diskq.Options{Dir: dir, SegmentBytes: f.segmentBytes}, c)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	return q, nil
}

// remove removes the files of removed queues.
func (f *queueFiles) remove(numbers []int) error {
	for _, number := range numbers {
		for _, suffix := range []string{backlogSuffix, retainedSuffix} {
			q, err := f.open(number, suffix, nil) // opening without a checkpoint removes the old files
			if err == nil {
				err = q.Close()
			}
			if err != nil {
				return fmt.Errorf("outbox: %w", err)
			}
		}
	}
	return nil
}

// Check reads all queues and verifies their checksums and lengths. It returns all faults joined. No other call may run
// at the same time.
func (b *Outbox) Check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := []error{b.mu.err}
	for agent, q := range b.mu.agents {
		for _, part := range []struct {
			name  string
			queue *overflowQueue
		}{{"backlog", &q.backlog}, {"retained items", &q.retained}} {
			if err := part.queue.queue.Check(); err != nil {
				dir := b.files.dir
				errs = append(errs, fmt.Errorf("outbox: %s of %q (%s/%d-*): %w", part.name, agent, dir, q.number, err))
			}
		}
	}
	return errors.Join(errs...)
}
