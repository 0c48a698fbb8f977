package control

import "syscall"

// peerOf returns the user and the process at the other end of a Unix socket.
func peerOf(conn syscall.RawConn) (uid uint32, pid int32, ok bool) {
	err := conn.Control(func(fd uintptr) {
		if c, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			uid, pid, ok = c.Uid, c.Pid, true
		}
	})
	return uid, pid, ok && err == nil
}
