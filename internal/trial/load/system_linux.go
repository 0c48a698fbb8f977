package load

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls below go to the system without telling the scheduler, which package syscall does: they never wait, and to
// be told would cost more than some of them do. A thread of the runtime that looks for system calls that last is woken
// when one begins after a pause, and then looks every 20 microseconds for a while.

// acceptNow takes a connection if one is there, and EAGAIN is its error if none is.
func acceptNow(listener int) (int, error) {
	for {
		fd, _, errno := unix.RawSyscall6(
			unix.SYS_ACCEPT4,
			uintptr(listener),
			0,
			0,
			unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC,
			0,
			0,
		)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}

// readNow reads what has come. The descriptor must not block.
func readNow(fd int, p []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(
			unix.SYS_READ,
			uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))),
			uintptr(len(p)),
		)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// sendNow gives the system as much of p as it takes, which is all of it while there is room. With more the system may
// wait for what comes next, a close for instance, and send both in one segment.
func sendNow(fd int, p []byte, more bool) (int, error) {
	flags := uintptr(unix.MSG_NOSIGNAL)
	if more {
		flags |= unix.MSG_MORE
	}
	for {
		n, _, errno := unix.RawSyscall6(
			unix.SYS_SENDTO,
			uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))),
			uintptr(len(p)),
			flags,
			0,
			0,
		)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}

// closeNow closes a descriptor. What was written is sent all the same.
func closeNow(fd int) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}
