package outbox

import (
	"errors"
	"fmt"
)

// Check reads all queues and verifies their sums and lengths. An error joins all that is
// wrong. Nobody may be in another call meanwhile.
func (b *Outbox) Check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := []error{b.err}
	for to, l := range b.lines {
		for _, s := range []struct {
			what  string
			shelf *shelf
		}{{"to be sent", &l.out}, {"told", &l.told}} {
			if err := s.shelf.queue.Check(); err != nil {
				errs = append(errs, fmt.Errorf("outbox: what is %s to %q (%s/%d-*): %w", s.what, to, b.o.Dir, l.number, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Told is how many items there are of what an agent was told, sent or not.
func (b *Outbox) Told(to string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[to]
	if l == nil {
		return 0
	}
	return l.told.overs + int(l.told.queue.Len())
}
