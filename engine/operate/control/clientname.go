package control

import (
	"fmt"
	"net"
	"net/http"
	"os/user"
	"strconv"
	"syscall"
)

// clientName names the client of a request, for the log of changes: the user at the other end of a Unix socket, where
// the system tells, or an address.
func clientName(r *http.Request) string {
	p, ok := r.Context().Value(connKey{}).(*placed)
	if !ok {
		return "unknown"
	}
	if unix, ok := p.Conn.(*net.UnixConn); ok {
		raw, err := unix.SyscallConn()
		if err != nil {
			return "local user"
		}
		return userOf(raw)
	}
	return p.Conn.RemoteAddr().String()
}

// userOf names the user at the other end of a Unix socket.
func userOf(conn syscall.RawConn) string {
	uid, pid, ok := peerOf(conn)
	if !ok {
		return "local user"
	}
	name := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(name); err == nil {
		return fmt.Sprintf("%s (uid %s, process %d)", u.Username, name, pid)
	}
	return fmt.Sprintf("uid %s, process %d", name, pid)
}
