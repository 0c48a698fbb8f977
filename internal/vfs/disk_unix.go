//go:build unix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Flags of open: not to wait for the other end of a named pipe, and to open directories alone.
const (
	noWait  = unix.O_NONBLOCK
	onlyDir = unix.O_DIRECTORY
)

// syncDir makes the names of a directory durable. Some network file systems do not support it; this is no error.
func syncDir(dir string) error {
	d, err := os.OpenFile(dir, os.O_RDONLY|onlyDir, 0)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// lockFile uses flock, which belongs to the open file: a second Lock in this process is refused like a foreign one.
func lockFile(f *os.File) error {
	for {
		err := onDescriptor(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}

// touchedAtRandom tells the system that reading ahead is useless, because it would replace needed pages. The system may
// ignore it.
func touchedAtRandom(data []byte) { _ = unix.Madvise(data, unix.MADV_RANDOM) }

// expect begins to read pages of a mapping, from the start of one on. The system may ignore it.
func expect(data []byte) { _ = unix.Madvise(data, unix.MADV_WILLNEED) }

func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return int64(st.Bavail) * int64(st.Bsize), err
	}
}

// onDescriptor calls fn while the descriptor cannot be closed.
func onDescriptor(f *os.File, fn func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = fn(int(fd)) }); err != nil {
		return err
	}
	return inner
}
