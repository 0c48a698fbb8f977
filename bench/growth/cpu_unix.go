//go:build unix

package growth

import (
	"syscall"
	"time"
)

// CPU is the CPU time of this process, user and system.
func CPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
