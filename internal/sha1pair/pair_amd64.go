package sha1pair

import "github.com/klauspost/cpuid/v2"

// hasLanes reports whether this processor can hash two blocks at once.
func hasLanes() bool { return cpuid.CPU.Supports(cpuid.SHA, cpuid.SSSE3, cpuid.SSE4) }

// blocks takes n blocks of 64 bytes of each message into its state, whose words are in the order D C B A 0 0 0 E.
//
//go:noescape
func blocks(sa, sb *[8]uint32, a, b *byte, n int)
