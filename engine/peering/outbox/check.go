package outbox

import (
	"errors"
	"fmt"
)

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
