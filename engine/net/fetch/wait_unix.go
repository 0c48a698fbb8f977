//go:build unix

package fetch

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// canWait says that this system tells when a connection is readable.
const canWait = true

// wait is the first read of an exchange, which waits without a buffer.
type wait struct {
	onReady   func(uintptr) bool // ready, bound once
	onPoll    func(uintptr)      // poll, bound once
	page      *Page
	n         int
	err       error
	hasPolled bool
}

// init binds what would otherwise be allocated for every exchange.
func (w *wait) init() { w.onReady, w.onPoll = w.ready, w.poll }

// read waits until conn is readable, takes a buffer, and reads into p.
func (w *wait) read(conn syscall.Conn, p *Page) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	w.page, w.n, w.err, w.hasPolled = p, 0, nil, false
	err = raw.Read(w.onReady)
	w.page = nil
	if err != nil {
		return 0, err
	}
	return w.n, w.err
}

// quiet says whether nothing has come over a connection that waits for its next exchange: what comes there is its end,
// or nothing that was asked for.
func (w *wait) quiet(conn syscall.Conn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	w.n = 0
	if err := raw.Control(w.onPoll); err != nil {
		return false
	}
	return w.n == 0
}

// poll asks, without waiting, whether there is something to read.
func (w *wait) poll(fd uintptr) {
	if readable(fd) {
		w.n = 1
	}
}

// readable says, without waiting, whether there is something to read, an end or a fault included.
func readable(fd uintptr) bool {
	watched := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(watched[:], 0)
	return n > 0 || err != nil
}

// ready is called with the descriptor of the connection, at once and then whenever it may be readable; false asks to
// wait. The first time it only looks: the poller tells of what comes from now on, not of what is there.
func (w *wait) ready(fd uintptr) bool {
	if !w.hasPolled {
		w.hasPolled = true
		if !readable(fd) {
			return false
		}
	}
	p := w.page
	var ok bool
	if p.Raw, ok = p.memory.grow(p.Raw, 1); !ok {
		w.err = errNoBuffer
		return true
	}
	n, err := unix.Read(int(fd), p.memory.raw.B)
	for err == unix.EINTR {
		n, err = unix.Read(int(fd), p.memory.raw.B)
	}
	switch {
	case err == unix.EAGAIN:
		return false
	case err != nil:
		w.err = err
	case n == 0:
		w.err = io.EOF
	default:
		w.n, p.Raw = n, p.memory.raw.B[:n]
	}
	return true
}
