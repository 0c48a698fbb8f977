//go:build !linux

package load

import (
	"context"
	"io"
	"net"
	"net/netip"
)

// listener is a listener.
type listener struct {
	l    net.Listener
	addr netip.AddrPort
}

// openListener listens.
func openListener(ctx context.Context, at netip.AddrPort) (*listener, error) {
	lc := net.ListenConfig{KeepAlive: -1} // probes would cost four system calls for each connection
	l, err := lc.Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	return &listener{l: l, addr: l.Addr().(*net.TCPAddr).AddrPort()}, nil
}

// accept waits for a connection. wait is called before the connection waits for anything, with what ends all its
// waiting. The error is net.ErrClosed when the listener has been closed.
func (d *listener) accept(wait func(io.Closer) error) (net.Conn, error) {
	conn, err := d.l.Accept()
	if err != nil {
		return nil, err
	}
	if err = wait(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// Close ends accept.
func (d *listener) Close() error { return d.l.Close() }
