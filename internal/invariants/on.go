//go:build invariants

package invariants

import "sync/atomic"

// Enabled reports whether checks are compiled in. Guard loops that only serve a check with it.
const Enabled = true

// Check panics with "BUG: " and the message if the condition does not hold.
func Check(cond bool, msg string) {
	if !cond {
		panic("BUG: " + msg)
	}
}

// Mangle overwrites the bytes with 0xCC: call it on a buffer that was handed back.
func Mangle(b []byte) {
	if len(b) == 0 {
		return
	}
	b[0] = 0xCC
	for filled := 1; filled < len(b); filled *= 2 { // as fast as memory can be copied
		copy(b[filled:], b[:filled])
	}
}

// CloseChecker notices use after Close. The zero value is open. Safe for concurrent use.
type CloseChecker struct{ closed atomic.Bool }

// MarkClosed notes the close and panics at the second one.
func (c *CloseChecker) MarkClosed() {
	if c.closed.Swap(true) {
		panic("BUG: closed twice")
	}
}

// AssertOpen panics after MarkClosed.
func (c *CloseChecker) AssertOpen() {
	if c.closed.Load() {
		panic("BUG: used after it was closed")
	}
}
