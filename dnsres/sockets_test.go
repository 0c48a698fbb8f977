package dnsres_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

// wire is a scripted name server on real loopback sockets, UDP and TCP, that records what it received.
type wire struct {
	script *dnstest.Server
	addr   netip.AddrPort

	mu     sync.Mutex
	before func(w dns.ResponseWriter, q *dns.Msg) // what it sends before each reply over UDP; may be nil
	ids    []uint16
	ports  []uint16
	names  []string
}

// say sets the function that sends packets before each reply over UDP.
func (s *wire) say(before func(w dns.ResponseWriter, q *dns.Msg)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// serve answers a question. It does not truncate long replies; the script decides which ones are truncated.
func (s *wire) serve(ctx context.Context, w dns.ResponseWriter, q *dns.Msg) {
	udp, overUDP := w.RemoteAddr().(*net.UDPAddr)
	if overUDP {
		s.mu.Lock()
		s.ids, s.ports, s.names = append(
			s.ids,
			q.Id,
		), append(
			s.ports,
			uint16(udp.Port),
		), append(
			s.names,
			q.Question[0].Name,
		)
		before := s.before
		s.mu.Unlock()
		if before != nil {
			before(w, q)
		}
	}
	reply, err := s.script.Exchange(ctx, q, s.addr, !overUDP)
	if err != nil {
		if !overUDP {
			_ = w.Close()
		}
		return // as a server that does not listen
	}
	_ = w.WriteMsg(reply)
}

// listen puts a script on sockets until the test ends.
func listen(t testing.TB, script *dnstest.Server) *wire {
	t.Helper()
	s := &wire{script: script}
	var udp net.PacketConn
	var tcp net.Listener
	var err error
	for range 10 { // another process may use one of the ports
		if udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if tcp, err = net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			break
		}
		_ = udp.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.addr = udp.LocalAddr().(*net.UDPAddr).AddrPort()
	ctx, cancel := context.WithCancel(context.Background())
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { s.serve(ctx, w, q) })
	servers := []*dns.Server{{PacketConn: udp, Handler: handler}, {Listener: tcp, Handler: handler}}
	var all sync.WaitGroup
	for _, one := range servers {
		started := make(chan struct{})
		one.NotifyStartedFunc = func() { close(started) }
		all.Go(func() { _ = one.ActivateAndServe() })
		<-started
	}
	t.Cleanup(func() {
		cancel()
		for _, one := range servers {
			_ = one.Shutdown()
		}
		all.Wait()
	})
	return s
}

// both runs a test twice: in the process in virtual time, and on real sockets with a time-out of a tenth of a second.
func both(t *testing.T, o dnsres.Options, tell func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server)) {
	t.Helper()
	t.Run("in the process", func(t *testing.T) { story(t, o, tell) })
	t.Run("on a socket", func(t *testing.T) {
		script := new(dnstest.Server)
		tell(t, resolverOn(t, o, listen(t, script)), script)
	})
}

func resolverOn(t testing.TB, o dnsres.Options, s *wire) *dnsres.Resolver {
	t.Helper()
	o.Upstreams = []netip.AddrPort{s.addr}
	if o.Timeout == 0 {
		o.Timeout = 100 * time.Millisecond
	}
	r, err := dnsres.New(o, dnsres.NetExchanger{Dial: new(net.Dialer).DialContext})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// busyConn is a connection that has at most one question at a time.
type busyConn struct {
	net.Conn
	t    *testing.T
	open *atomic.Int64
	busy atomic.Bool
}

func (c *busyConn) Write(p []byte) (int, error) {
	if !c.busy.CompareAndSwap(false, true) {
		c.t.Error("a socket has two questions")
	}
	return c.Conn.Write(p)
}

func (c *busyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.busy.Store(false)
	return n, err
}

func (c *busyConn) Close() error {
	c.open.Add(-1)
	return c.Conn.Close()
}

// With many questions in flight a socket has one of them at a time. Few sockets are opened, and none is left.
func TestSocketsUnderLoad(t *testing.T) {
	const names, askers = 2000, 48 // more would exceed the buffer of the server, which then drops questions
	script := new(dnstest.Server)
	script.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60, Delay: 5 * time.Millisecond})
	server := listen(t, script)
	var open, ever, most, next atomic.Int64
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		ever.Add(1)
		if n := open.Add(1); n > most.Load() {
			most.Store(n)
		}
		return &busyConn{Conn: conn, t: t, open: &open}, nil
	}
	r, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{server.addr}, IPv6: true},
		dnsres.NetExchanger{Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			for i := next.Add(1); i <= names; i = next.Add(1) {
				if a := r.Resolve(t.Context(), longName(int(i))); a.Err != nil {
					t.Error(a.Err)
				}
			}
		})
	}
	all.Wait()
	// Two questions a name. As many idle sockets may be about to be closed while others are opened.
	if ever.Load() >= 2*names || most.Load() > 4*askers || open.Load() != 0 {
		t.Errorf("%d names had %d sockets, %d at once, %d are left", names, ever.Load(), most.Load(), open.Load())
	}
}
