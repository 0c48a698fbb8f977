//go:build race

package vfs

// copyMapped copies bytes that may change through a mapping meanwhile. A disk reads mapped pages while they change,
// too, and gets some of the old bytes and some of the new ones; the race detector is not to take that for a mistake.
//
//go:norace
func copyMapped(dst, src []byte) {
	for i := range src {
		dst[i] = src[i]
	}
}
