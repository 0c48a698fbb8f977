package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flushReachesDisk: msync(MS_SYNC) on Linux is an fsync of the range, device cache included.
const flushReachesDisk = true

// allocate reserves blocks; file systems that cannot (tmpfs can, some network ones cannot) get zeros written instead.
func allocate(f *os.File, size, offset, length int64) error {
	for {
		err := onDescriptor(f, func(fd int) error { return unix.Fallocate(fd, 0, offset, length) })
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return writeZeros(f, size, offset+length)
		}
		return err
	}
}

// forget drops whole pages that are clean.
func forget(f *os.File, offset, length int64) {
	_ = onDescriptor(f, func(fd int) error { // advice may be ignored, and so may we
		return unix.Fadvise(fd, offset, length, unix.FADV_DONTNEED)
	})
}
