//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Process is the CPU time of this process, user and system.
func Process() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
