package peering

import (
	"errors"
	"fmt"
	"time"
)

// What an agent answers in place of an acceptance. The transport carries these to the sender.
var (
	// ErrMalformed says that a message or question cannot be read. The sender must not send it again.
	ErrMalformed = errors.New("peering: a malformed message")
	// ErrBanned says that an agent takes nothing of another for a time.
	ErrBanned = errors.New("peering: banned")
)

// WaitError says that an agent takes no more messages of another for now. The sender keeps them, and waits before it
// sends the next.
type WaitError struct{ Wait time.Duration }

// Error says for how long.
func (e *WaitError) Error() string {
	return fmt.Sprintf("peering: over the quota: wait for %v", e.Wait)
}
