package control

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// limitConns gives a listener with so many connections at most. A new connection beyond them takes the place of one
// that has no authorised request under way: the oldest of the client that has the most of these. So a client that opens
// connections without requests, or without the token, blocks no other client. If all have authorised requests under
// way, Accept waits until one ends.
func limitConns(l net.Listener, most int, log *slog.Logger) *fewConns {
	return &fewConns{Listener: l, most: most, log: log, freed: make(chan struct{}, 1), closed: make(chan struct{})}
}

type fewConns struct {
	net.Listener
	most   int
	log    *slog.Logger
	freed  chan struct{} // a place may be free
	once   sync.Once
	closed chan struct{}

	mu    sync.Mutex
	conns []*placed // those that have a place, the one that was idle for longest first
}

// placed is a connection with a place.
type placed struct {
	net.Conn
	of     *fewConns
	client netip.Prefix // the client; invalid for a Unix socket
	busy   bool         // has an authorised request under way; guarded by of.mu
}

// Accept waits for a connection and then for its place.
func (l *fewConns) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	p := &placed{Conn: conn, of: l, client: clientOf(conn.RemoteAddr())}
	for !l.admit(p) {
		select {
		case <-l.freed:
		case <-l.closed:
			_ = conn.Close() // nothing was read of it
			return nil, net.ErrClosed
		}
	}
	return p, nil
}

// clientOf is the network of one client: an IPv4 address, or the /64 that a client with IPv6 has to itself.
func clientOf(a net.Addr) netip.Prefix {
	at, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := at.AddrPort().Addr().Unmap()
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, _ := ip.WithZone("").Prefix(bits) // an address of TCP has that many
	return p
}

// admit gives p a place, if there is one or one can be made free.
func (l *fewConns) admit(p *placed) bool {
	l.mu.Lock()
	var victim *placed
	if len(l.conns) >= l.most {
		if victim = l.mostIdle(); victim == nil {
			l.mu.Unlock()
			return false
		}
		l.remove(victim)
	}
	l.conns = append(l.conns, p)
	l.mu.Unlock()
	if victim != nil {
		l.log.Warn("control: all connections are taken: idle ones are closed for new ones", "connections", l.most,
			"client", victim.client.String())
		_ = victim.Conn.Close() // its server sees that, and closes it again
	}
	return true
}

// mostIdle is the oldest idle connection of the client that has the most of them, nil if all are busy.
func (l *fewConns) mostIdle() (oldest *placed) {
	idle := make(map[netip.Prefix]int, len(l.conns))
	for _, c := range l.conns {
		if !c.busy {
			idle[c.client]++
		}
	}
	for _, c := range l.conns {
		if !c.busy && (oldest == nil || idle[c.client] > idle[oldest.client]) {
			oldest = c
		}
	}
	return oldest
}

func (l *fewConns) remove(p *placed) {
	if at := slices.Index(l.conns, p); at >= 0 {
		l.conns = slices.Delete(l.conns, at, at+1)
	}
}

// mark notes whether p has an authorised request under way, and that it has just been used.
func (l *fewConns) mark(p *placed, busy bool) {
	l.mu.Lock()
	if slices.Contains(l.conns, p) {
		l.remove(p)
		p.busy = busy
		l.conns = append(l.conns, p)
	}
	l.mu.Unlock()
	l.wake()
}

func (l *fewConns) wake() {
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// Close also ends an Accept that waits for a place.
func (l *fewConns) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Close gives the place back. It may be called again.
func (p *placed) Close() error {
	err := p.Conn.Close()
	p.of.mu.Lock()
	p.of.remove(p)
	p.of.mu.Unlock()
	p.of.wake()
	return err
}

// connKey finds a request's connection in its context.
type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// authorised keeps the place of a request's connection until its answer has been sent.
func authorised(ctx context.Context) {
	if p, ok := ctx.Value(connKey{}).(*placed); ok {
		p.of.mark(p, true)
	}
}

// onState is http.Server.ConnState: an answer has been sent when its connection is idle.
func onState(c net.Conn, state http.ConnState) {
	if p, ok := c.(*placed); ok && state == http.StateIdle {
		p.of.mark(p, false)
	}
}
