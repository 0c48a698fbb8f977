package load

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// socket is an accepted connection. As long as nothing has to be waited for it is a bare descriptor: a request that has come
// is read, the answer fits the system's buffer, and the connection is closed, so the poller need not hear of it. At the
// first wait it becomes a file of the poller. One goroutine uses it; what wait was given may be closed by any.
type socket struct {
	fd     int      // -1 when it is closed, or the file's
	file   *os.File // nil before the first wait
	local  netip.AddrPort
	wait   func(io.Closer) error
	held   bool      // the system may hold back what was written
	readBy time.Time // deadlines, for the file
	sendBy time.Time
}

var _ net.Conn = (*socket)(nil)

// Read reads what has come, and waits until something has.
func (s *socket) Read(p []byte) (int, error) {
	if s.file == nil && len(p) > 0 {
		n, err := readNow(s.fd, p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err != unix.EAGAIN:
			return 0, err
		}
		if err := s.toPoller(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Read(p)
	return n, bare(err)
}

// Write writes all of p. Before the first wait the last segment stays until that, or until Close, which then sends it and
// the end of the stream in one.
func (s *socket) Write(p []byte) (n int, err error) {
	if s.file == nil {
		n, err = sendNow(s.fd, p, true)
		s.held = true
		if n == len(p) || err != nil && err != unix.EAGAIN {
			return n, err
		}
		if err = s.toPoller(); err != nil {
			return n, err
		}
	}
	k, err := s.file.Write(p[n:])
	return n + k, bare(err)
}

// toPoller makes the connection one that can wait.
func (s *socket) toPoller() error {
	if s.fd < 0 {
		return net.ErrClosed
	}
	if err := s.release(); err != nil {
		return err
	}
	file := os.NewFile(uintptr(s.fd), "tcp") // which owns the descriptor from here on
	s.fd, s.file = -1, file
	if err := errors.Join(file.SetReadDeadline(s.readBy), file.SetWriteDeadline(s.sendBy)); err != nil {
		return err // the poller does not have it: nothing would ever end a wait
	}
	return s.wait(file)
}

// release sends what is held back.
func (s *socket) release() error {
	if !s.held {
		return nil
	}
	s.held = false
	return unix.SetsockoptInt(s.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // which also pushes
}

// Close closes the connection.
func (s *socket) Close() error {
	if s.file != nil {
		return bare(s.file.Close())
	}
	if s.fd < 0 {
		return net.ErrClosed
	}
	fd := s.fd
	s.fd = -1
	return closeNow(fd)
}

// SetLinger says with 0 that Close is to reset the connection. What was written before is sent.
func (s *socket) SetLinger(sec int) error {
	linger := unix.Linger{Onoff: 1, Linger: int32(sec)}
	if sec < 0 {
		linger = unix.Linger{}
	}
	if s.file == nil {
		return errors.Join(s.release(), unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &linger))
	}
	raw, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) { result = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &linger) })
	return errors.Join(err, result)
}

// SetDeadline bounds all waiting.
func (s *socket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline bounds waiting in Read.
func (s *socket) SetReadDeadline(t time.Time) error {
	s.readBy = t
	if s.file == nil {
		return nil
	}
	return s.file.SetReadDeadline(t)
}

// SetWriteDeadline bounds waiting in Write.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.sendBy = t
	if s.file == nil {
		return nil
	}
	return s.file.SetWriteDeadline(t)
}

// LocalAddr is where the listener listens.
func (s *socket) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(s.local) }

// RemoteAddr is not known: nobody has asked the system for it.
func (s *socket) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// bare takes off what package os puts around an error.
func bare(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
