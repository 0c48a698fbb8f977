//go:build !scenario

package traps

// reduced reports whether the webs are as small as make test wants them.
const reduced = true
