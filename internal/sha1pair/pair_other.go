//go:build !amd64

package sha1pair

// hasLanes reports whether this processor can hash two blocks at once.
func hasLanes() bool { return false }

// blocks is never called.
func blocks(_, _ *[8]uint32, _, _ *byte, _ int) { panic("BUG: sha1pair: no lanes here") }
