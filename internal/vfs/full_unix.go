//go:build unix

package vfs

// isFullHere: Unix has no other error for it.
func isFullHere(error) bool { return false }
