package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// listener is a listener whose connections are served by hand: see socket. The runtime's poller knows it.
type listener struct {
	file *os.File
	raw  syscall.RawConn
	addr netip.AddrPort
}

// openListener listens.
func openListener(ctx context.Context, at netip.AddrPort) (*listener, error) {
	lc := net.ListenConfig{KeepAlive: -1, Control: func(_, _ string, c syscall.RawConn) error {
		var result error
		err := c.Control(func(fd uintptr) { result = setOptions(int(fd)) })
		return errors.Join(err, result)
	}}
	lc.SetMultipathTCP(false) // all is on loopback, and accept costs more
	l, err := lc.Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	d := &listener{addr: l.Addr().(*net.TCPAddr).AddrPort()}
	d.file, err = l.(*net.TCPListener).File() // a second descriptor of the same socket
	if err = errors.Join(err, l.Close()); err == nil {
		d.raw, err = d.file.SyscallConn()
	}
	if err != nil {
		return nil, errors.Join(err, d.file.Close())
	}
	return d, nil
}

// setOptions sets what is true of a listener and, except for the first, of its connections too.
func setOptions(fd int) error {
	return errors.Join(
		// A connection is there to be accepted when its first bytes are, or after a second without any: the client asks
		// first.
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		// Others measure the way and pace what they send with timers, which tells nothing on loopback.
		unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno"),
	)
}

// accept waits for a connection. wait is called, once at most, before the connection waits for anything, with what ends
// all its waiting, and an error of it is that of the connection. The error is net.ErrClosed when the listener has been
// closed.
func (d *listener) accept(wait func(io.Closer) error) (net.Conn, error) {
	fd := -1
	var result error
	err := d.raw.Read(func(listener uintptr) (done bool) {
		fd, result = acceptNow(int(listener))
		return !errors.Is(result, unix.EAGAIN)
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", net.ErrClosed, err)
	}
	if result != nil {
		return nil, result
	}
	return &socket{fd: fd, local: d.addr, wait: wait}, nil
}

// Close ends accept.
func (d *listener) Close() error { return d.file.Close() }
