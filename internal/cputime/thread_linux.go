package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread returns the processor time of the calling thread. The caller must have locked its goroutine to the thread.
// (getrusage counts in steps of some milliseconds.)
func Thread() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic("BUG: clock_gettime: " + err.Error())
	}
	return time.Duration(now.Nano())
}
