package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/fetch/socks"
	"orbweaver/engine/net/h2"
	"orbweaver/internal/outcome"
)

// isTimeout reports whether err is an expired deadline.
func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// http2Fault returns the fault of HTTP/2 in err; nil if there is none.
func http2Fault(err error) *h2.Fault {
	if err == nil {
		return nil
	}
	var fault *h2.Fault
	errors.As(err, &fault)
	return fault
}

// dialFault returns the outcome for an error of a dial, its cause for the log, and FlagLocal if that is here.
func dialFault(err error) (o outcome.Outcome, cause string, flags Flags) {
	switch {
	case errors.Is(err, addrguard.ErrBlockedPort):
		return outcome.BlockedPort, "port not allowed", 0
	case errors.Is(err, addrguard.ErrBlockedAddress), errors.Is(err, ErrName):
		return outcome.BlockedAddress, "address not allowed", 0
	case errors.Is(err, socks.ErrLocked):
		return outcome.ProxyFault, "proxy: it asks for credentials", 0
	case errors.Is(err, socks.ErrRefused):
		return outcome.ProxyFault, "proxy: it refuses the connection", 0
	case errors.Is(err, socks.ErrProxy):
		return outcome.ProxyFault, "proxy: no connection", 0
	case isTimeout(err):
		return outcome.ConnectTimeout, "connect timed out", 0
	}
	switch errnoOf(err) {
	case syscall.ECONNREFUSED:
		return outcome.Refused, "connection refused", 0
	case syscall.ECONNRESET, syscall.EPIPE:
		return outcome.Reset, "reset while connecting", 0
	case syscall.ETIMEDOUT:
		return outcome.ConnectTimeout, "connect timed out", 0
	}
	o, cause = outcome.Unreachable, "unreachable"
	if local := localCause(err); local != "" {
		cause, flags = local, FlagLocal
	}
	if scarce(err) {
		o = outcome.LocalFault
	}
	return o, cause, flags
}

// socksFault returns which fault of the way an error of a SOCKS proxy is.
func socksFault(err error) outcome.Way {
	switch {
	case errors.Is(err, socks.ErrLocked):
		return outcome.WayLocked
	case errors.Is(err, socks.ErrRefused):
		return outcome.WayRefused
	default:
		return outcome.WayDown
	}
}

// scarce reports whether this machine lacks a resource for a connection that may be free again in a moment. Other local
// causes (no route, forbidden) are not included.
func scarce(err error) bool {
	switch errnoOf(err) {
	case syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.ENOBUFS, syscall.ENOMEM:
		return true
	default:
		return errors.Is(err, os.ErrNoDeadline)
	}
}

// errnoOf returns the system's error inside err by its Unix name, 0 if there is none.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return 0
	}
	return unixErrno(errno)
}

// localCause names the missing resource of this machine; "" if there is none.
func localCause(err error) string {
	if errors.Is(err, os.ErrNoDeadline) {
		return "no room in the poller"
	}
	switch errnoOf(err) {
	case syscall.EMFILE, syscall.ENFILE:
		return "no file descriptors left"
	case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
		return "no local ports left"
	case syscall.ENOBUFS, syscall.ENOMEM:
		return "no socket memory"
	case syscall.ENETDOWN:
		return "network is down"
	case syscall.ENETUNREACH:
		return "no route"
	case syscall.EPERM, syscall.EACCES:
		return "forbidden by the system"
	default:
		return ""
	}
}

// Causes of faults that a server without HTTP/1.1 may give: see Page.Err.
const (
	CauseNoProtocol = "tls: no protocol in common"
	CauseNoAnswer   = "closed without an answer"
)

// tlsCause names the reason why a handshake failed.
func tlsCause(err error) string {
	var record tls.RecordHeaderError
	var op *net.OpError
	if why, ok := certificateParseFault(err); ok {
		return "tls: certificate that cannot be read: " + why
	}
	switch {
	case isTimeout(err):
		return "tls: handshake timed out"
	case errors.As(err, &record):
		return "tls: not TLS"
	case errors.Is(err, errChain):
		return "tls: certificate chain too large"
	case isVersionFault(err):
		return "tls: old version"
	case strings.Contains(err.Error(), "no application protocol"): // an alert, without an error value
		return CauseNoProtocol
	case errors.As(err, &op) && op.Op == "remote error": // an alert
		return "tls: refused by the server"
	case strings.Contains(err.Error(), "exceeds maximum"): // the library has no error value for it
		return "tls: message too large"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errnoOf(err) == syscall.ECONNRESET:
		return "tls: connection closed in the handshake"
	case certificateFault(err) != "invalid":
		return "tls: certificate refused: " + certificateFault(err)
	default:
		return "tls: handshake failed"
	}
}
