//go:build !invariants

package invariants

// Enabled reports whether checks are compiled in. Guard loops that only serve a check with it.
const Enabled = false

// Check does nothing in this build.
func Check(bool, string) {}

// Mangle does nothing in this build.
func Mangle([]byte) {}

// CloseChecker does nothing in this build and takes no space.
type CloseChecker struct{}

// MarkClosed does nothing in this build.
func (*CloseChecker) MarkClosed() {}

// AssertOpen does nothing in this build.
func (*CloseChecker) AssertOpen() {}
