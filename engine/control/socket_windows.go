package control

import "syscall"

// ownerOnly does nothing: the socket's file has the rights of its directory.
func ownerOnly(_, _ string, _ syscall.RawConn) error { return nil }
