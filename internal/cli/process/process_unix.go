//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Usage gives this process's CPU time and peak resident memory.
func Usage() (cpu time.Duration, rssPeak int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	rssPeak = int64(u.Maxrss)
	if runtime.GOOS != "darwin" {
		rssPeak <<= 10 // kilobytes but on macOS
	}
	if own := ownPeak(); own > 0 {
		rssPeak = own
	}
	return cpu, rssPeak
}

// ownPeak returns the peak of resident memory that Linux counts for the program alone; 0 if it is not known. Maxrss of
// getrusage is at least the memory of the process that started the program.
func ownPeak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	number, _, _ := bytes.Cut(rest, []byte("kB\n"))
	kilobytes, err := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// FileLimit asks for as many open files as are needed, and returns how many there may be.
func FileLimit(need int) (limit int) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return unlimited
	}
	if uint64(l.Cur) < uint64(need) {
		want := l
		want.Cur = min(l.Max, max(l.Cur, 1<<20))
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want); err == nil {
			l = want
		}
	}
	return int(min(uint64(l.Cur), unlimited))
}

// MayBeAlive reports whether a process of this machine may be alive.
func MayBeAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
