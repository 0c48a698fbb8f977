//go:build unix

package control

import (
	"io/fs"
	"strconv"
	"syscall"
)

// ownerOnly gives a socket that is not bound yet the mode of its future file, so that no other user can connect
// before chmod. Where a system does not do that (only Linux is known to), chmod follows at once.
func ownerOnly(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}

// ownerID returns the user that owns a file.
func ownerID(info fs.FileInfo) (uid string, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return strconv.FormatUint(uint64(stat.Uid), 10), true
}
