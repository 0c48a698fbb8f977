package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socketConn is a TCP connection made with system calls. The runtime's poller handles its file, for waiting and
// deadlines. It omits what package net adds and a fetch does not need.
type socketConn struct {
	file   *os.File
	raw    syscall.RawConn
	remote netip.AddrPort
}

// connectTries bounds the attempts when the system picks a local port that does not do.
const connectTries = 3

// errToItself: the system chose the remote address also for the local end. This can happen on one machine if no server
// listens there; the request would come back as the response.
var errToItself = fmt.Errorf("connected to itself: %w", syscall.ECONNREFUSED)

// connectSocket connects to addr over TCP. It keeps to ctx, and to its deadline even if Done is not closed then.
func connectSocket(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	for try := 1; ; try++ {
		c, err := openSocket(ctx, addr)
		if err == nil {
			return c, nil
		}
		if try == connectTries || (!errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, errToItself)) {
			return nil, fmt.Errorf("fetch: connect to %v: %w", addr, err)
		}
	}
}

// openSocket makes a socket and connects it. The errors are bare.
func openSocket(ctx context.Context, addr netip.AddrPort) (*socketConn, error) {
	family, name := sockaddr(addr)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.Connect(fd, name); err != nil && !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EINTR) {
		_ = unix.Close(fd) // it was never used
		return nil, err
	}
	c := &socketConn{file: os.NewFile(uintptr(fd), "tcp"), remote: addr} // which owns fd from here on
	if c.raw, err = c.file.SyscallConn(); err == nil {
		err = c.await(ctx, name)
	}
	if err != nil {
		_ = c.Close() // err says more
		return nil, err
	}
	return c, nil
}

// await waits until the connection is there.
func (c *socketConn) await(ctx context.Context, name unix.Sockaddr) error {
	deadline, _ := ctx.Deadline()
	if err := c.SetWriteDeadline(deadline); err != nil {
		return err // the poller does not have it: nothing would ever end a wait
	}
	stop := context.AfterFunc(ctx, func() {
		_ = c.SetWriteDeadline(aLongTimeAgo()) // of a file that is open until await returns, or closed, which does no harm
	})
	// To connect again is to ask what has become of it: nil, an error, or EALREADY.
	var result error
	err := c.raw.Write(func(fd uintptr) (done bool) {
		result = unix.Connect(int(fd), name)
		if result == nil && c.toItself(int(fd)) {
			result = errToItself
		}
		return result != unix.EALREADY && result != unix.EINPROGRESS && result != unix.EINTR
	})
	switch {
	case !stop():
		return ctx.Err()
	case err != nil:
		return err
	case result != nil && result != unix.EISCONN:
		return result
	}
	return c.SetWriteDeadline(time.Time{})
}

// sockaddr returns addr in the form of the system. IPv4 in IPv6 is IPv4, as it is for a Guard.
func sockaddr(addr netip.AddrPort) (family int, name unix.Sockaddr) {
	ip := addr.Addr().Unmap()
	if ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: ip.As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(addr.Port()), Addr: ip.As16()}
}

// firstLocalPort is the lowest port that the system picks for a connection: web servers on the usual ports need no
// look.
const firstLocalPort = 1024

// toItself says whether both ends of fd have the same address.
func (c *socketConn) toItself(fd int) bool {
	return c.remote.Port() >= firstLocalPort &&
		localAddr(fd) == netip.AddrPortFrom(c.remote.Addr().Unmap(), c.remote.Port())
}

// localAddr asks the system for the address of this end; zero if it does not know.
func localAddr(fd int) netip.AddrPort {
	name, err := syscall.Getsockname(fd) // that of package unix asks for the protocol besides
	if err != nil {
		return netip.AddrPort{}
	}
	switch n := name.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(n.Addr), uint16(n.Port))
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(n.Addr).Unmap(), uint16(n.Port))
	default:
		return netip.AddrPort{}
	}
}

// bare takes off what package os puts around an error: TLS must see that a timeout is temporary.
func bare(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// Read reads what has come, and waits until something has.
func (c *socketConn) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	return n, bare(err)
}

// Write writes all of b.
func (c *socketConn) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	return n, bare(err)
}

// Close closes the connection.
func (c *socketConn) Close() error { return bare(c.file.Close()) }

// SetDeadline bounds all waiting.
func (c *socketConn) SetDeadline(t time.Time) error { return c.file.SetDeadline(t) }

// SetReadDeadline bounds waiting in Read.
func (c *socketConn) SetReadDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// SetWriteDeadline bounds waiting in Write.
func (c *socketConn) SetWriteDeadline(t time.Time) error { return c.file.SetWriteDeadline(t) }

// SyscallConn gives access to the descriptor.
func (c *socketConn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// SetNoDelay makes the system send at once, without waiting for acknowledgements.
func (c *socketConn) SetNoDelay(noDelay bool) error {
	value := 0
	if noDelay {
		value = 1
	}
	var result error
	if err := c.raw.Control(func(fd uintptr) {
		result = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY, value)
	}); err != nil {
		return err
	}
	return result
}

// LocalAddr returns the address of this end.
func (c *socketConn) LocalAddr() net.Addr {
	var addr netip.AddrPort
	_ = c.raw.Control(func(fd uintptr) { addr = localAddr(int(fd)) }) // a closed connection has no address
	return net.TCPAddrFromAddrPort(addr)
}

// RemoteAddr returns the address of the other end.
func (c *socketConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }
