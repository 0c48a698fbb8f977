package members

import (
	"errors"
	"net"
	"net/netip"
	"sync"
)

// memberlist reads up to 20 MiB of a connection before it finds out whether the other end has the key, and takes any number of connections. So those
// that come are bounded: in number, in number from one source, and in bytes. What 1,000 agents say of themselves is under half a mebibyte.
const (
	streamsMost      = 128
	streamsOfOne     = 32
	streamBytes      = 1 << 20
	streamsOfOneBits = 64 // of an IPv6 address: its network is one source
)

// errStream says that a connection has brought more than is read of any.
var errStream = errors.New("members: a connection that brought too much")

// streams counts the connections that are open. The zero value has none.
type streams struct {
	mu  sync.Mutex
	all int
	of  map[netip.Prefix]int
}

// enter takes a place; false if there is none.
func (s *streams) enter(source netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= streamsMost || s.of[source] >= streamsOfOne {
		return false
	}
	if s.of == nil {
		s.of = make(map[netip.Prefix]int)
	}
	s.all++
	s.of[source]++
	return true
}

func (s *streams) leave(source netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[source]--; s.of[source] == 0 {
		delete(s.of, source)
	}
}

// bounded is a connection that somebody made to this agent.
type bounded struct {
	net.Conn
	left  int // bytes that may be read yet; only the reader counts
	once  sync.Once
	leave func()
}

// Read reads what is granted.
func (b *bounded) Read(p []byte) (n int, err error) {
	if b.left <= 0 {
		return 0, errStream
	}
	n, err = b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Close may be called again.
func (b *bounded) Close() error {
	b.once.Do(b.leave)
	return b.Conn.Close()
}

// admit gives a connection within bounds, or closes it.
func (s *streams) admit(conn net.Conn) (net.Conn, bool) {
	source := netip.Prefix{}
	if addr, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		ip, bits := addr.Addr().Unmap().WithZone(""), 32
		if ip.Is6() {
			bits = streamsOfOneBits
		}
		source, _ = ip.Prefix(bits) // the bits are right
	}
	if !s.enter(source) {
		_ = conn.Close() // it is refused
		return nil, false
	}
	return &bounded{Conn: conn, left: streamBytes, leave: func() { s.leave(source) }}, true
}
