package fetch

import (
	"errors"
	"io"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errNoBuffer says that bytes are there and no buffer to read them into.
var errNoBuffer = errors.New("fetch: no buffer")

// probeBytes is the size of the first read where readiness cannot be waited for without a buffer.
const probeBytes = 4 << 10

// read appends what one read yields to p.Raw, which must have room unless it has no buffer at all yet.
func (f *Fetcher) read(p *Page) (n int, err error) {
	if p.buf.b == nil {
		n, err = f.readFirst(p)
	} else {
		n, err = f.conn.Read(p.buf.b[len(p.Raw):])
		p.Raw = p.buf.b[:len(p.Raw)+n]
	}
	if n > 0 {
		if f.got == 0 {
			p.FirstByte = time.Now()
		}
		f.got += int64(n)
	}
	return n, err
}

// readFirst waits for the first bytes without holding a buffer, and takes one only when they are there: of a thousand
// fetchers nearly all wait for a server to answer.
func (f *Fetcher) readFirst(p *Page) (int, error) {
	if plain, ok := f.conn.(syscall.Conn); ok {
		raw, err := plain.SyscallConn()
		if err != nil {
			return 0, err
		}
		f.asked, f.readN, f.readErr = false, 0, nil
		if err = raw.Read(f.onReady); err != nil {
			return 0, err
		}
		return f.readN, f.readErr
	}
	if f.probe == nil {
		f.probe = make([]byte, probeBytes)
	}
	n, err := f.conn.Read(f.probe)
	if n > 0 {
		if !p.grow(n) {
			return 0, errNoBuffer
		}
		p.Raw = p.buf.b[:copy(p.buf.b, f.probe[:n])]
	}
	return n, err
}

// ready is called with the descriptor of the connection, at once and then whenever it may be readable; false asks to wait.
// The first time it only looks: the poller tells of what comes from now on, not of what is there.
func (f *Fetcher) ready(fd uintptr) bool {
	if !f.asked {
		f.asked = true
		watched := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(watched[:], 0); n == 0 && err == nil {
			return false
		}
	}
	p := f.page
	if !p.grow(1) {
		f.readErr = errNoBuffer
		return true
	}
	n, err := unix.Read(int(fd), p.buf.b)
	for err == unix.EINTR {
		n, err = unix.Read(int(fd), p.buf.b)
	}
	switch {
	case err == unix.EAGAIN:
		return false
	case err != nil:
		f.readErr = err
	case n == 0:
		f.readErr = io.EOF
	default:
		f.readN, p.Raw = n, p.buf.b[:n]
	}
	return true
}
