package load

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is an accepted connection. As long as it need not wait it is a bare descriptor: a request that has
// come is read, the answer fits the system's buffer, and the connection is closed, so the poller need not hear of it.
// At the first wait it becomes a file of the poller. One goroutine uses it; what wait was given may be closed by any.
type socket struct {
	fd     int             // -1 when it is closed, or the file's
	file   *os.File        // nil before the first wait
	raw    syscall.RawConn // the file's
	local  netip.AddrPort
	wait   func(io.Closer) error
	held   bool      // the system may hold back what was written
	readBy time.Time // deadlines, for the file
	sendBy time.Time
}

var _ net.Conn = (*socket)(nil)

// Read reads what has come, and waits until something has.
func (s *socket) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.file == nil {
		if n, err = readNow(s.fd, p); errors.Is(err, unix.EAGAIN) {
			err = s.toPoller()
		} else {
			return n, ended(n, err)
		}
	}
	if err != nil {
		return 0, err
	}
	var result error
	err = s.raw.Read(func(fd uintptr) (done bool) {
		n, result = readNow(int(fd), p)
		return !errors.Is(result, unix.EAGAIN)
	})
	if err != nil {
		return 0, err
	}
	return n, ended(n, result)
}

// ended makes a read of nothing the end.
func ended(n int, err error) error {
	if n == 0 && err == nil {
		return io.EOF
	}
	return err
}

// Write writes all of p. Before the first wait the last segment stays until that, or until Close, which then sends it
// and the end of the stream in one.
func (s *socket) Write(p []byte) (n int, err error) {
	if s.file == nil {
		n, err = sendNow(s.fd, p, true)
		s.held = true
		if n == len(p) || err != nil && !errors.Is(err, unix.EAGAIN) {
			return n, err
		}
		if err = s.toPoller(); err != nil {
			return n, err
		}
	}
	var result error
	err = s.raw.Write(func(fd uintptr) (done bool) {
		for n < len(p) && result == nil {
			var k int
			k, result = sendNow(int(fd), p[n:], false)
			n += k
		}
		if !errors.Is(result, unix.EAGAIN) {
			return true
		}
		result = nil
		return false
	})
	if err != nil {
		return n, err
	}
	return n, result
}

// toPoller makes the connection one that can wait. On error it is closed.
func (s *socket) toPoller() error {
	if s.file != nil {
		return nil
	}
	if s.fd < 0 {
		return net.ErrClosed
	}
	err := s.release()
	s.file = os.NewFile(uintptr(s.fd), "tcp") // which owns the descriptor from here on
	s.fd = -1
	if err == nil {
		s.raw, err = s.file.SyscallConn()
	}
	// Setting a deadline fails if the poller does not have the file: then nothing would ever end a wait.
	err = errors.Join(err, s.file.SetReadDeadline(s.readBy), s.file.SetWriteDeadline(s.sendBy))
	if err == nil {
		err = s.wait(s.file)
	}
	if err != nil {
		_ = s.file.Close() // err says more
	}
	return err
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
		return s.file.Close()
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
	var result error
	err := s.raw.Control(
		func(fd uintptr) { result = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &linger) },
	)
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

// RemoteAddr is not known: the system was not asked for it.
func (s *socket) RemoteAddr() net.Addr { return &net.TCPAddr{} }
