package fetch

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// unixErrno returns the Unix error number for an error of Windows sockets.
func unixErrno(e syscall.Errno) syscall.Errno {
	switch e {
	case windows.WSAECONNREFUSED:
		return syscall.ECONNREFUSED
	case windows.WSAECONNRESET, windows.WSAECONNABORTED:
		return syscall.ECONNRESET
	case windows.WSAETIMEDOUT:
		return syscall.ETIMEDOUT
	case windows.WSAEMFILE:
		return syscall.EMFILE
	case windows.WSAEADDRNOTAVAIL:
		return syscall.EADDRNOTAVAIL
	case windows.WSAEADDRINUSE:
		return syscall.EADDRINUSE
	case windows.WSAENOBUFS:
		return syscall.ENOBUFS
	case windows.WSAENETDOWN:
		return syscall.ENETDOWN
	case windows.WSAENETUNREACH:
		return syscall.ENETUNREACH
	case windows.WSAEACCES:
		return syscall.EACCES
	default:
		return e
	}
}
