//go:build !windows

package fetch

import "syscall"

// unixErrno returns e: its names are the system's own.
func unixErrno(e syscall.Errno) syscall.Errno { return e }
