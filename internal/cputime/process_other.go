//go:build !unix

package cputime

import "time"

// Process is zero: this system does not report the CPU time of a process.
func Process() time.Duration { return 0 }
