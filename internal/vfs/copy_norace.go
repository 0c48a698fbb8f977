//go:build !race

package vfs

// copyMapped copies bytes that may change through a mapping at the same time.
func copyMapped(dst, src []byte) { copy(dst, src) }
