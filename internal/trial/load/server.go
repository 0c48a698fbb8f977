package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/origin"
)

// ListenersMax is the most listeners a Server opens: each is a file descriptor and a goroutine.
const ListenersMax = 8192

// Options says what a Server listens on. Addresses are "IP:port" on loopback; port 0 takes a free one. Empty ones are
// left out. On Linux "IP:port@FILE" is on the loopback of another network namespace, such as /proc/PID/ns/net.
type Options struct {
	Proxy string // HTTP proxy: absolute form, and CONNECT for TLS
	// More are further addresses of the proxy: a client has some 28,000 ports for each.
	More []string
	HTTP string // direct, by Host field; also takes the absolute form
	TLS  string // direct, inside TLS
	DNS  string // UDP and TCP
	// Direct opens every address of the world on every port of the world. The world's AddrBase must be loopback.
	Direct bool
	Log    *arrivals.Log // where arrivals go; nil for nowhere
	Plain  bool          // no pauses; see simweb.ServeOptions
}

// Stats is what a Server has done so far.
type Stats struct {
	Conns    int64 `json:"conns"`    // connections accepted, tunnels counted twice
	Requests int64 `json:"requests"` // answers
	Bytes    int64 `json:"bytes"`    // bytes of answers
	Text     int64 `json:"text"`     // bytes of the pages that were packed, before that
	Packed   int64 `json:"packed"`   // and after
	Open     int   `json:"open"`     // connections open now
	Queries  int64 `json:"queries"`  // DNS questions
}

// Server is a simulated web being served.
type Server struct {
	world    *origin.Web
	o        Options
	tls      *tls.Config
	root     *x509.Certificate
	counters origin.Counters
	dns      *responder
	stop     func()        // unbinds from the context, and waits if that is ending just now
	done     chan struct{} // closed when the server is to stop
	closing  sync.Once
	closeErr error

	proxyAddr, httpAddr, tlsAddr netip.AddrPort
	moreAddrs                    []netip.AddrPort // of the proxy

	open atomic.Int64 // connections being served

	mu        sync.Mutex
	closed    bool
	listeners []*listener
	waiting   map[io.Closer]struct{} // ends of the connections that something is waited for
	wg        sync.WaitGroup
}

// Start opens everything that the options name, and serves until Close or the end of ctx. On error nothing is left
// open.
func Start(ctx context.Context, w *origin.Web, o Options) (*Server, error) {
	s := &Server{world: w, o: o, waiting: make(map[io.Closer]struct{}), done: make(chan struct{}), dns: new(responder)}
	issuer, err := newIssuer(w.Config().Domain)
	if err != nil {
		return nil, err
	}
	s.root = issuer.root
	s.tls = &tls.Config{
		GetCertificate: issuer.certificate,
		NextProtos:     []string{"http/1.1"},
		MinVersion:     tls.VersionTLS12,
	}
	if err = s.openAll(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	ended := make(chan struct{})
	unbind := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.shut()
	})
	s.stop = func() {
		if !unbind() {
			<-ended
		}
	}
	return s, nil
}

// openAll opens all listeners.
func (s *Server) openAll(ctx context.Context) (err error) {
	if s.o.Proxy != "" {
		if s.proxyAddr, err = s.listen(ctx, s.o.Proxy, s.serveProxy); err != nil {
			return err
		}
	}
	for _, address := range s.o.More {
		more, err := s.listen(ctx, address, s.serveProxy)
		if err != nil {
			return err
		}
		s.moreAddrs = append(s.moreAddrs, more)
	}
	if s.o.HTTP != "" {
		if s.httpAddr, err = s.listen(ctx, s.o.HTTP, s.servePlain); err != nil {
			return err
		}
	}
	if s.o.TLS != "" {
		if s.tlsAddr, err = s.listen(ctx, s.o.TLS, s.serveTLS); err != nil {
			return err
		}
	}
	if s.o.Direct {
		if err = s.openDirect(ctx); err != nil {
			return err
		}
	}
	if s.o.DNS != "" {
		dns, err := startDNS(ctx, s.world, s.o.DNS)
		if err != nil {
			return err
		}
		s.dns = dns
	}
	return nil
}

// openDirect listens on each address of the world, on each of its ports.
func (s *Server) openDirect(ctx context.Context) error {
	c := s.world.Config()
	ports := map[int]func(net.Conn){c.HTTPPort: s.servePlain}
	if c.HTTPSShare > 0 {
		ports[c.HTTPSPort] = s.serveTLS
	}
	if c.AltPortShare > 0 {
		ports[c.AltPort] = s.serveAny
	}
	if n := c.IPs * len(ports); n > ListenersMax {
		return fmt.Errorf(
			"load: %d listeners for %d addresses: want at most %d; use fewer IPs or the proxy",
			n,
			c.IPs,
			ListenersMax,
		)
	}
	for k := range c.IPs {
		for port, serve := range ports {
			if _, err := s.listen(ctx, net.JoinHostPort(s.world.Addr(k).String(), strconv.Itoa(port)), serve); err != nil {
				return err
			}
		}
	}
	return nil
}

// loopback parses an address and refuses what is not on loopback.
func loopback(address string) (netip.AddrPort, error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return ap, fmt.Errorf("load: address %q: %w", address, err)
	}
	if !ap.Addr().IsLoopback() {
		return ap, fmt.Errorf("load: address %q: the simulated web is served on loopback only", address)
	}
	return ap, nil
}

// listen opens one listener and starts its first goroutine; Close waits for all of them.
func (s *Server) listen(ctx context.Context, address string, serve func(net.Conn)) (netip.AddrPort, error) {
	where, namespace, _ := strings.Cut(address, "@")
	ap, err := loopback(where)
	if err != nil {
		return ap, err
	}
	var d *listener
	err = inNamespace(namespace, func() (err error) {
		d, err = openListener(ctx, ap)
		return err
	})
	if err != nil {
		return ap, fmt.Errorf("load: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = d.Close()
		return ap, net.ErrClosed
	}
	s.listeners = append(s.listeners, d)
	p := &acceptor{s: s, listener: d, serve: serve, next: make(chan struct{}), idle: make(chan struct{}, idleMax)}
	s.wg.Go(p.acceptUntilClosed)
	return d.addr, nil
}

// hold keeps what ends the waiting of a connection until it is served.
func (s *Server) hold(c io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.waiting[c] = struct{}{}
	return nil
}

// rest lets some time pass when no connection can be accepted: out of descriptors, or the client has gone already.
func (s *Server) rest() {
	pause := time.NewTimer(10 * time.Millisecond)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-s.done:
	}
}

func (s *Server) options(inTLS bool) origin.ServeOptions {
	return origin.ServeOptions{Log: s.o.Log, TLS: inTLS, Counters: &s.counters, Plain: s.o.Plain}
}

func (s *Server) servePlain(conn net.Conn) { s.world.Serve(conn, s.options(false)) }

// serveTLS serves inside TLS; the handshake happens at the first read, within the idle deadline.
func (s *Server) serveTLS(conn net.Conn) {
	aside(conn)
	s.world.Serve(tls.Server(conn, s.tls), s.options(true))
	_ = conn.Close()
}

func (s *Server) serveProxy(conn net.Conn) {
	o := s.options(false)
	o.Connect = func(conn net.Conn, _ string) {
		aside(conn)
		s.serveAny(conn)
	}
	s.world.Serve(conn, o)
}

// serveAny looks at the first byte to tell TLS from plain HTTP.
func (s *Server) serveAny(conn net.Conn) {
	peeked := &peekConn{Conn: conn}
	switch first, err := peeked.peek(); {
	case err != nil:
		_ = conn.Close()
	case first == 0x16: // the content type of a TLS handshake record
		s.serveTLS(peeked)
	default:
		s.servePlain(peeked)
	}
}

// peekConn is a connection whose first byte has been looked at.
type peekConn struct {
	net.Conn
	first [1]byte
	full  bool
}

func (c *peekConn) peek() (byte, error) {
	n, err := c.Conn.Read(c.first[:])
	c.full = n == 1
	return c.first[0], err
}

func (c *peekConn) Read(p []byte) (int, error) {
	if c.full && len(p) > 0 {
		p[0] = c.first[0]
		c.full = false
		return 1, nil
	}
	return c.Conn.Read(p)
}

// NetConn returns the connection below, as tls.Conn has it.
func (c *peekConn) NetConn() net.Conn { return c.Conn }

// ProxyAddr is where the proxy listens; zero if there is none.
func (s *Server) ProxyAddr() netip.AddrPort { return s.proxyAddr }

// MoreAddrs is where else the proxy listens.
func (s *Server) MoreAddrs() []netip.AddrPort { return s.moreAddrs }

// HTTPAddr is where the direct server listens; zero if there is none.
func (s *Server) HTTPAddr() netip.AddrPort { return s.httpAddr }

// TLSAddr is where the direct TLS server listens; zero if there is none.
func (s *Server) TLSAddr() netip.AddrPort { return s.tlsAddr }

// DNSAddr is where the name server listens, UDP and TCP; zero if there is none.
func (s *Server) DNSAddr() netip.AddrPort {
	return s.dns.addr
}

// Root is the certificate that clients must trust.
func (s *Server) Root() *x509.Certificate { return s.root }

// Stats returns what has been done so far.
func (s *Server) Stats() Stats {
	st := Stats{Conns: s.counters.Conns.Load(), Requests: s.counters.Requests.Load(), Bytes: s.counters.Bytes.Load(),
		Text: s.counters.Text.Load(), Packed: s.counters.Packed.Load()}
	st.Queries = s.dns.names.Served()
	st.Open = int(s.open.Load())
	return st
}

// shut closes listeners and connections and waits for no connection.
func (s *Server) shut() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	for _, d := range s.listeners {
		_ = d.Close()
	}
	s.listeners = nil
	for c := range s.waiting {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.dns.shut()
}

// Close stops serving and waits until nothing is left. Called again it returns the same.
func (s *Server) Close() error {
	s.closing.Do(func() {
		if s.stop != nil {
			s.stop()
		}
		s.shut()
		s.dns.wg.Wait()
		s.closeErr = s.dns.err
		s.wg.Wait()
	})
	return s.closeErr
}
