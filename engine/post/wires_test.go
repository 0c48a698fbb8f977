package post

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"orbweaver/engine/post/identity"
)

// wires is a network within the process: it works in virtual time, and can be cut.
type wires struct {
	mu        sync.Mutex
	listeners map[netip.AddrPort]*bufconn.Listener
	conns     map[*wire]bool
	rate      int            // bytes a second from whoever connects to whoever listens; 0 for no limit
	dead      bool           // what is written gets lost, and nobody is told
	from      netip.AddrPort // whom those who listen see connect; zero for 127.0.0.1:9
	dialled   atomic.Int64
	recording bool
	recorded  []byte // what those who connect have written
}

func newWires() *wires {
	return &wires{listeners: make(map[netip.AddrPort]*bufconn.Listener), conns: make(map[*wire]bool)}
}

// wire is one end of a connection.
type wire struct {
	net.Conn
	net           *wires
	local, remote net.Addr
	caller        bool // who connected
	once          sync.Once
	closed        chan struct{}
}

func (w *wires) Listen(_ context.Context, addr netip.AddrPort) (net.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listeners[addr] != nil {
		return nil, errors.New("address in use")
	}
	l := bufconn.Listen(64 << 10)
	w.listeners[addr] = l
	return &wireListener{l, w, addr}, nil
}

type wireListener struct {
	*bufconn.Listener
	net  *wires
	addr netip.AddrPort
}

func (l *wireListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.addr) }

func (l *wireListener) Close() error {
	l.net.mu.Lock()
	delete(l.net.listeners, l.addr)
	l.net.mu.Unlock()
	return l.Listener.Close()
}

func (l *wireListener) Accept() (net.Conn, error) {
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

func (w *wires) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
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

func (w *wires) end(c net.Conn, local, remote netip.AddrPort, caller bool) net.Conn {
	e := &wire{Conn: c, net: w, local: net.TCPAddrFromAddrPort(local), remote: net.TCPAddrFromAddrPort(remote), caller: caller, closed: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[e] = true
	return e
}

// cut resets all connections.
func (w *wires) cut() {
	w.mu.Lock()
	conns := w.conns
	w.conns = make(map[*wire]bool)
	w.mu.Unlock()
	for c := range conns {
		c.Close()
	}
}

// open is how many connections whoever made them has not closed.
func (w *wires) open() (n int) {
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

func (w *wires) set(rate int, dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rate, w.dead = rate, dead
}

func (w *wires) record() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recording = true
}

func (e *wire) LocalAddr() net.Addr  { return e.local }
func (e *wire) RemoteAddr() net.Addr { return e.remote }

func (e *wire) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.Conn.Close()
}

func (e *wire) Write(b []byte) (int, error) {
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

// village is a crawl's agents on wires.
type village struct {
	*wires
	t         testing.TB
	authority *identity.Authority // nil for plain text
	next      uint16
}

func newVillage(t testing.TB, secure bool) *village {
	t.Helper()
	v := &village{wires: newWires(), t: t, next: 7000}
	t.Cleanup(func() { time.Sleep(time.Minute) }) // no time passes when a bubble ends, and gRPC waits some before it lets go of a dead connection
	if secure {
		v.authority = authority(t, "crawl-1")
	}
	return v
}

func authority(t testing.TB, crawl string) *identity.Authority {
	t.Helper()
	a, err := identity.New(crawl, time.Now(), 365*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t testing.TB, a *identity.Authority, id string, life time.Duration) *identity.Identity {
	t.Helper()
	card, err := a.Issue(id, time.Now(), life, 0)
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// agent opens an Office that is closed when the test ends, and says how it is reached.
func (v *village) agent(id string, o Options) (*Office, Peer) {
	v.t.Helper()
	v.next++
	o.Addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), v.next)
	o.Network = v.wires
	if o.Receive == nil {
		o.Receive = func(context.Context, string, []byte) error { return nil }
	}
	switch {
	case v.authority == nil:
		o.Self, o.Crawl, o.Plain = id, orElse(o.Crawl, "crawl-1"), true
	case o.Identity == nil:
		o.Identity = issue(v.t, v.authority, id, 24*time.Hour)
	}
	office, err := Listen(v.t.Context(), o)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() {
		if err := office.Close(); err != nil {
			v.t.Errorf("closing %s: %v", id, err)
		}
	})
	return office, Peer{id, office.Addr()}
}

// addrAfter is an address where no agent listens.
func addrAfter(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr(), a.Port()+1000) }
