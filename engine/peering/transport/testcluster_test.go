package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"orbweaver/engine/peering/identity"
)

// memoryNetwork is a network inside the process: it works in virtual time, and can be cut.
type memoryNetwork struct {
	mu        sync.Mutex
	listeners map[netip.AddrPort]*bufconn.Listener
	conns     map[*memoryConn]bool
	rate      int            // bytes per second from the end that connected; 0 for no limit
	dead      bool           // what is written is lost, without an error
	from      netip.AddrPort // the address that accepted connections show; zero for 127.0.0.1:9
	dialled   atomic.Int64
	recording bool
	recorded  []byte // what the ends that connected have written
}

func newMemoryNetwork() *memoryNetwork {
	return &memoryNetwork{listeners: make(map[netip.AddrPort]*bufconn.Listener), conns: make(map[*memoryConn]bool)}
}

// memoryConn is one end of a connection.
type memoryConn struct {
	net.Conn
	net           *memoryNetwork
	local, remote net.Addr
	caller        bool // the end that connected
	once          sync.Once
	closed        chan struct{}
}

func (w *memoryNetwork) Listen(_ context.Context, addr netip.AddrPort) (net.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners[addr] != nil {
		return nil, errors.New("address in use")
	}
	l := bufconn.Listen(64 << 10)
	w.listeners[addr] = l
	return &memoryListener{l, w, addr}, nil
}

type memoryListener struct {
	*bufconn.Listener
	net  *memoryNetwork
	addr netip.AddrPort
}

func (l *memoryListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.addr) }

func (l *memoryListener) Close() error {
	l.net.mu.Lock()
	delete(l.net.listeners, l.addr)
	l.net.mu.Unlock()
	return l.Listener.Close()
}

func (l *memoryListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.net.mu.Lock()
	from := l.net.from
	l.net.mu.Unlock()
	if !from.IsValid() {
		from = netip.MustParseAddrPort("127.0.0.1:9")
	}
	return l.net.end(c, l.addr, from, false), nil
}

func (w *memoryNetwork) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	w.dialled.Add(1)
	w.mu.Lock()
	l := w.listeners[addr]
	w.mu.Unlock()
	if l == nil {
		return nil, errors.New("connection refused")
	}
	c, err := l.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	return w.end(c, netip.MustParseAddrPort("127.0.0.1:9"), addr, true), nil
}

func (w *memoryNetwork) end(c net.Conn, local, remote netip.AddrPort, caller bool) net.Conn {
	e := &memoryConn{
		Conn: c, net: w, local: net.TCPAddrFromAddrPort(local), remote: net.TCPAddrFromAddrPort(remote), caller: caller,
		closed: make(chan struct{}),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[e] = true
	return e
}

// cut resets all connections.
func (w *memoryNetwork) cut() {
	w.mu.Lock()
	conns := w.conns
	w.conns = make(map[*memoryConn]bool)
	w.mu.Unlock()
	for c := range conns {
		c.Close()
	}
}

// open is how many connections the end that connected has not closed.
func (w *memoryNetwork) open() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		select {
		case <-c.closed:
		default:
			if c.caller {
				n++
			}
		}
	}
	return n
}

func (w *memoryNetwork) set(rate int, dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rate, w.dead = rate, dead
}

func (w *memoryNetwork) record() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recording = true
}

// stopRecording ends the recording and returns what was written.
func (w *memoryNetwork) stopRecording() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recording = false
	return w.recorded
}

func (e *memoryConn) LocalAddr() net.Addr  { return e.local }
func (e *memoryConn) RemoteAddr() net.Addr { return e.remote }

func (e *memoryConn) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.Conn.Close()
}

func (e *memoryConn) Write(b []byte) (int, error) {
	e.net.mu.Lock()
	rate, dead := e.net.rate, e.net.dead
	if e.net.recording && e.caller {
		e.net.recorded = append(e.net.recorded, b...)
	}
	e.net.mu.Unlock()
	if dead {
		return len(b), nil
	}
	if rate == 0 || !e.caller {
		return e.Conn.Write(b)
	}
	done := 0
	for done < len(b) {
		n := min(len(b)-done, 256)
		select {
		case <-time.After(time.Duration(n) * time.Second / time.Duration(rate)):
		case <-e.closed:
			return done, net.ErrClosed
		}
		n, err := e.Conn.Write(b[done : done+n])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// cluster is a set of agents on a memoryNetwork.
type cluster struct {
	*memoryNetwork
	t         testing.TB
	authority *identity.Authority // nil for plain text
	port      uint16              // of the last agent
}

func newCluster(t testing.TB, secure bool) *cluster {
	t.Helper()
	c := &cluster{memoryNetwork: newMemoryNetwork(), t: t, port: 7000}
	// No time passes when a bubble ends, and gRPC waits some seconds before it ends the goroutines of a dead connection.
	t.Cleanup(func() { time.Sleep(time.Minute) })
	if secure {
		c.authority = newAuthority(t, "crawl-1")
	}
	return c
}

func newAuthority(t testing.TB, crawl string) *identity.Authority {
	t.Helper()
	a, err := identity.New(crawl, time.Now(), 365*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t testing.TB, a *identity.Authority, name string, validFor time.Duration) *identity.Identity {
	t.Helper()
	id, err := a.Issue(name, time.Now(), validFor, 0)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// agent opens a Transport that is closed when the test ends, and says how it is reached.
func (c *cluster) agent(name string, o Options) (*Transport, Peer) {
	c.t.Helper()
	c.port++
	o.Addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), c.port)
	o.Network = c.memoryNetwork
	if o.Receive == nil {
		o.Receive = acceptAll
	}
	switch {
	case c.authority == nil:
		o.Self, o.Crawl, o.Plain = name, orElse(o.Crawl, "crawl-1"), true
	case o.Identity == nil:
		o.Identity = issue(c.t, c.authority, name, 24*time.Hour)
	}
	t, err := Open(c.t.Context(), o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := t.Close(); err != nil {
			c.t.Errorf("closing %s: %v", name, err)
		}
	})
	return t, Peer{name, t.Addr()}
}

// acceptAll is a Receive.
func acceptAll(context.Context, string, []byte) error { return nil }

// addrAfter is an address where no agent listens.
func addrAfter(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr(), a.Port()+1000) }

// send sends a batch without a sequence.
func send(t testing.TB, from *Transport, to Peer, batch []byte) error {
	t.Helper()
	return from.Send(t.Context(), to, 0, batch)
}

// noise is data without any structure.
func noise(n int) []byte {
	rng := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	rng.Read(b)
	return b
}
