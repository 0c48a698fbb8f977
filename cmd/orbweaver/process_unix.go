//go:build unix

package main

import (
	"log/slog"
	"runtime"
	"syscall"
	"time"
)

// usage gives this process's CPU time and peak resident memory.
func usage() (cpu time.Duration, rssPeak int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	rssPeak = int64(u.Maxrss)
	if runtime.GOOS != "darwin" {
		rssPeak <<= 10 // kilobytes but on macOS
	}
	return cpu, rssPeak
}

// raiseFileLimit asks for as many open files as the crawl needs, and says when it does not get them.
func raiseFileLimit(log *slog.Logger, need int) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || uint64(l.Cur) >= uint64(need) {
		return
	}
	want := l
	want.Cur = min(l.Max, max(l.Cur, 1<<20))
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want); err != nil {
		want = l
	}
	if uint64(want.Cur) < uint64(need) {
		log.Warn("the limit of open files is lower than this crawl may need; raise it (ulimit -n) or lower --fetchers",
			"limit", want.Cur, "needs", need)
	}
}
