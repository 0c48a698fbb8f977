package fetch

import (
	"errors"
	"syscall"
	"time"
)

// errNoBuffer says that bytes are there and no buffer to read them into.
var errNoBuffer = errors.New("fetch: no buffer")

// probeBytes is the size of the first read where readiness cannot be waited for without a buffer.
const probeBytes = 4 << 10

// read appends what one read yields to p.Raw, which must have room unless it has no buffer at all yet.
func (f *Fetcher) read(p *Page) (n int, err error) {
	if p.memory.raw.b == nil {
		n, err = f.readFirst(p)
	} else {
		n, err = f.conn.Read(p.memory.raw.b[len(p.Raw):])
		p.Raw = p.memory.raw.b[:len(p.Raw)+n]
	}
	if n > 0 {
		if f.got == 0 {
			p.Times.FirstByte = time.Now()
		}
		f.got += int64(n)
	}
	return n, err
}

// readFirst waits for the first bytes without holding a buffer, and takes one only when they are there: of a thousand
// fetchers nearly all wait for a server to answer.
func (f *Fetcher) readFirst(p *Page) (int, error) {
	if plain, ok := f.conn.(syscall.Conn); ok && canWait {
		return f.wait.read(plain, p)
	}
	return f.readProbed(p)
}

// readProbed is readFirst for connections, and systems, that cannot tell when there is something to read: it waits with
// a small buffer of the Fetcher's own, and copies.
func (f *Fetcher) readProbed(p *Page) (int, error) {
	if f.probe == nil {
		f.probe = make([]byte, probeBytes)
	}
	n, err := f.conn.Read(f.probe)
	if n > 0 {
		var ok bool
		if p.Raw, ok = p.memory.grow(p.Raw, n); !ok {
			return 0, errNoBuffer
		}
		p.Raw = p.memory.raw.b[:copy(p.memory.raw.b, f.probe[:n])]
	}
	return n, err
}
