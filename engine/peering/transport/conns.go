package transport

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
)

// remote is the other end of a connection that this agent accepted, as far as it has shown itself. It is the AuthInfo
// of the connection.
type remote struct {
	credentials.CommonAuthInfo

	id      string // by its certificate; "" in plain text
	number  uint64 // of the connection, in the order in which this agent accepted them
	conn    *accepted
	counted atomic.Bool // a call was admitted, or its refusal was counted
}

// AuthType implements credentials.AuthInfo.
func (*remote) AuthType() string { return "orbweaver" }

// close ends the connection. It may be called again.
func (r *remote) close() {
	r.counted.Store(true)
	_ = r.conn.Close() // what is written now may be lost: the receiver has broken the protocol or was replaced
}

// accepted is an accepted connection, below TLS. It calls a function once when it is closed.
type accepted struct {
	net.Conn
	mu      sync.Mutex
	closed  bool
	onClose func() // nil before afterClose
}

// afterClose sets the function, and calls it if the connection is closed already.
func (a *accepted) afterClose(f func()) {
	a.mu.Lock()
	a.onClose = f
	closed := a.closed
	a.mu.Unlock()
	if closed {
		f()
	}
}

// Close implements net.Conn. It may be called again.
func (a *accepted) Close() error {
	err := a.Conn.Close()
	a.mu.Lock()
	first, f := !a.closed, a.onClose
	a.closed = true
	a.mu.Unlock()
	if first && f != nil {
		f()
	}
	return err
}

// socketSet holds the open sockets to one peer, below TLS. gRPC waits some seconds for a peer that does not read before
// it closes a socket; closing it here does not.
type socketSet struct {
	mu     sync.Mutex
	closed bool
	open   map[*socket]struct{}
}

// socket is a connection that this agent made, below TLS.
type socket struct {
	net.Conn
	forget func(*socket)
}

// add takes a new connection. If the set is closed, it closes the connection.
func (s *socketSet) add(conn net.Conn) (net.Conn, error) {
	one := &socket{conn, s.remove}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.Join(ErrClosed, conn.Close())
	}
	if s.open == nil {
		s.open = make(map[*socket]struct{})
	}
	s.open[one] = struct{}{}
	return one, nil
}

func (s *socketSet) remove(one *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
}

// closeAll closes all sockets and refuses further ones.
func (s *socketSet) closeAll() {
	s.mu.Lock()
	open := s.open
	s.open, s.closed = nil, true
	s.mu.Unlock()
	for one := range open {
		_ = one.Conn.Close()
	}
}

// Close implements net.Conn. It may be called again.
func (s *socket) Close() error {
	s.forget(s)
	return s.Conn.Close()
}

// verified is a connection that this agent made, above TLS. In TLS 1.3 the server checks the certificate of the client
// after the handshake of the client has ended: an alert about it is the first thing that is read.
type verified struct {
	net.Conn
	onAlert func(err error)
	onClose func() // may be called again
}

// Close implements net.Conn. It may be called again.
func (v *verified) Close() error {
	v.onClose()
	return v.Conn.Close()
}

// Read implements net.Conn.
func (v *verified) Read(b []byte) (int, error) {
	n, err := v.Conn.Read(b)
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" {
		v.onAlert(alert.Err)
	}
	return n, err
}
