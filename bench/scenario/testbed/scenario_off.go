//go:build !scenario

package testbed

// Reduced reports whether tests run in the smaller size: few cases and small webs.
const Reduced = true

// Full reports whether the long stories run.
const Full = false
