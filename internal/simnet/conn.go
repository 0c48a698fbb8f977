package simnet

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is one end of a connection.
type conn struct {
	in, out       *pipe
	local, remote net.Addr
	readBy        *deadline
	writeBy       *deadline
	once          sync.Once
	closed        chan struct{}
	onClose       func() // may be nil
}

// newConns makes the two ends of a connection. late is of both pipes.
func newConns(
	client, server net.Addr,
	latency time.Duration,
	limit int,
	late func(bytes int) time.Duration,
) (c, s *conn) {
	up, down := newPipe(latency, limit), newPipe(latency, limit)
	up.lateness, down.lateness = late, late
	c = &conn{in: down, out: up, local: client, remote: server, closed: make(chan struct{})}
	s = &conn{in: up, out: down, local: server, remote: client, closed: make(chan struct{})}
	for _, end := range []*conn{c, s} {
		end.readBy, end.writeBy = newDeadline(), newDeadline()
	}
	return c, s
}

// Read reads what has arrived.
func (c *conn) Read(b []byte) (int, error) {
	if c.isClosed() {
		return 0, c.wrap("read", net.ErrClosed)
	}
	n, err := c.in.read(b, c.readBy)
	return n, c.wrap("read", err)
}

// Write returns when all of b is under way.
func (c *conn) Write(b []byte) (int, error) {
	if c.isClosed() {
		return 0, c.wrap("write", net.ErrClosed)
	}
	n, err := c.out.write(b, c.writeBy)
	return n, c.wrap("write", err)
}

// CloseWrite ends this direction only: the other end reads what is under way, then end of file.
func (c *conn) CloseWrite() error {
	if c.isClosed() {
		return c.wrap("close", net.ErrClosed)
	}
	c.out.end()
	return nil
}

// Close ends the connection. The other end reads what is under way, then end of file; if this end had bytes left to
// read the other end is reset, as the kernel does it.
func (c *conn) Close() error {
	err := c.wrap("close", net.ErrClosed)
	c.once.Do(func() {
		err = nil
		close(c.closed)
		if c.in.stopReading() {
			c.out.breakOff(syscall.ECONNRESET)
		}
		c.out.end()
		c.in.breakOff(net.ErrClosed)
		if c.onClose != nil {
			c.onClose()
		}
	})
	return err
}

// SetLinger with zero seconds makes the connection end by a reset, at once. Other values change nothing.
func (c *conn) SetLinger(sec int) error {
	if sec == 0 {
		c.reset()
	}
	return nil
}

// reset breaks both directions: either end sees the connection reset.
func (c *conn) reset() {
	c.out.breakOff(syscall.ECONNRESET)
	c.in.breakOff(syscall.ECONNRESET)
}

func (c *conn) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

func (c *conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // ours, bare
		return err
	}
	if errors.Is(err, io.ErrClosedPipe) {
		err = syscall.EPIPE
	}
	if errno, ok := err.(syscall.Errno); ok { //nolint:errorlint // ours, bare
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	c.readBy.set(t)
	c.writeBy.set(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { c.readBy.set(t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.writeBy.set(t); return nil }

// deadline is the time after which one direction of a connection fails. It may be moved while others wait for it.
type deadline struct {
	mu    sync.Mutex // held for a few instructions only
	at    time.Time
	moved chan struct{} // closed and replaced when the deadline is set
}

func newDeadline() *deadline { return &deadline{moved: make(chan struct{})} }

func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	close(d.moved)
	d.moved = make(chan struct{})
}

func (d *deadline) passed(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.at.IsZero() && !now.Before(d.at)
}

// wait returns when change is closed, when the deadline passes or is moved, or after most, if that is not zero.
func (d *deadline) wait(change <-chan struct{}, most time.Duration) {
	d.mu.Lock()
	moved := d.moved
	if !d.at.IsZero() {
		left := max(time.Until(d.at), 1)
		if most == 0 || left < most {
			most = left
		}
	}
	d.mu.Unlock()
	if most == 0 {
		select {
		case <-change:
		case <-moved:
		}
		return
	}
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-change:
	case <-moved:
	case <-t.C:
	}
}
