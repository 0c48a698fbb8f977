package process

import (
	"os"
	"runtime"
)

// SpareProcessor lets one goroutine more run at once than there are cores, unless GOMAXPROCS is set. A
// thread that waits for the disk in a system call keeps its place in Go's scheduler for up to ten milliseconds, so that
// on two cores each sync of the journal or the archive would leave one of them idle (docs/adr/0021). One core is busy
// either way, and two threads that take turns on it get in each other's way. Under a quota of CPU time an idle core
// costs nothing.
func SpareProcessor() {
	if cores := runtime.NumCPU(); cores > 1 && os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == cores {
		runtime.GOMAXPROCS(cores + 1)
	}
}
