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
	errs := []error{b.err}
	for agent, q := range b.agents {
		for _, part := range []struct {
			name  string
			queue *overflowQueue
		}{{"backlog", &q.backlog}, {"retained items", &q.retained}} {
			if err := part.queue.queue.Check(); err != nil {
				errs = append(errs, fmt.Errorf("outbox: %s of %q (%s/%d-*): %w", part.name, agent, b.o.Dir, q.number, err))
			}
		}
	}
	return errors.Join(errs...)
}

// RetainedCount is the number of retained items of an agent.
func (b *Outbox) RetainedCount(agent string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.agents[agent]
	if q == nil {
		return 0
	}
	return q.retained.size()
}
