package engine

import (
	"syscall"
	"testing"
	"time"
)

// threadTime is the processor time of this thread so far. On a busy machine that is what a piece of work costs, where the clock on the
// wall tells what others do. The caller has locked its goroutine to the thread.
func threadTime(tb testing.TB) time.Duration {
	tb.Helper()
	const thisThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
