//go:build !amd64

package sha1pair

// hasLanes says whether this processor can take two blocks at once.
func hasLanes() bool { return false }

// blocks is never called.
func blocks(_, _ *[8]uint32, _, _ *byte, _ int) { panic("BUG: sha1pair: no lanes here") }
