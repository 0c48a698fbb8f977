//go:build !race

package vfs

// copyMapped copies bytes that somebody may be changing through a mapping.
func copyMapped(dst, src []byte) { copy(dst, src) }
