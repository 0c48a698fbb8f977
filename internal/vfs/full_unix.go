//go:build unix

package vfs

// isFullHere: Unix has no further words for it.
func isFullHere(error) bool { return false }
