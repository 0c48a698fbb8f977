package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// serve plays script for every connection to a loopback address until the test ends.
func serve(t testing.TB, script func(conn *net.TCPConn)) netip.AddrPort {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				script(conn.(*net.TCPConn))
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return listener.Addr().(*net.TCPAddr).AddrPort()
}

func targetAt(addr netip.AddrPort) *Target {
	t := testTarget()
	t.Addr = addr
	return t
}

func TestLoopbackExchange(t *testing.T) {
	body := strings.Repeat("many bytes ", 50_000)
	addr := serve(t, func(conn *net.TCPConn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, framed("chunked", body))
	})
	fetchOnce(t, testOptions(), LoopbackOnly(), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.OK || string(p.Raw) != framed("chunked", body) || string(p.Payload()) != body {
			t.Errorf("%v %s, %d bytes", p.Outcome, p.Err, len(p.Raw))
		}
		if p.Connection.Remote != addr || p.Times.Started.After(p.Times.Connected) ||
			p.Times.Connected.After(p.Times.FirstByte) ||
			p.Times.FirstByte.After(p.Times.Ended) {
			t.Errorf("remote %v, times %v %v %v %v", p.Connection.Remote, p.Times.Started, p.Times.Connected,
				p.Times.FirstByte, p.Times.Ended)
		}
	})
}

// shyDialer hides from the Fetcher that its connections are sockets, so that it reads as on a system without readiness.
type shyDialer struct{ Dialer }

func (d shyDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{conn}, nil
}

// The first read is the same with and without waiting for readiness.
func TestFirstReadWithoutReadiness(t *testing.T) {
	for _, body := range []string{"", "hello", strings.Repeat("many bytes ", 50_000)} {
		addr := serve(t, func(conn *net.TCPConn) {
			readRequest(conn)
			time.Sleep(5 * time.Millisecond) // the fetcher waits already
			_, _ = io.WriteString(conn, framed("chunked", body))
		})
		for _, d := range []Dialer{LoopbackOnly(), shyDialer{LoopbackOnly()}} {
			fetchOnce(t, testOptions(), d, targetAt(addr), func(p *Page) {
				if p.Outcome != outcome.OK || string(p.Raw) != framed("chunked", body) {
					t.Errorf("%T: %v %s, %d bytes", d, p.Outcome, p.Err, len(p.Raw))
				}
			})
		}
	}
}

func TestHostile_H26_aResetCutsTheBody(t *testing.T) {
	addr := serve(t, func(conn *net.TCPConn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nhello")
		_, _ = conn.Read(make([]byte, 1)) // until the other side has read
		_ = conn.SetLinger(0)
	})
	o := testOptions()
	o.RateWindow = 200 * time.Millisecond
	o.RateMin = -1
	o.TotalTimeout = time.Second
	fetchOnce(t, o, LoopbackOnly(), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.TruncatedTime || string(p.Payload()) != "hello" {
			t.Errorf("a server that waits: %v %s", p.Outcome, p.Err)
		}
	})
	addr = serve(t, func(conn *net.TCPConn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\nhello")
		time.Sleep(20 * time.Millisecond) // a reset overtakes what was not read
		_ = conn.SetLinger(0)
	})
	fetchOnce(t, testOptions(), LoopbackOnly(), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.TruncatedDisconnect || p.Truncation != warc.TruncatedDisconnect ||
			string(p.Payload()) != "hello" {
			t.Errorf("a reset: %v %q %s", p.Outcome, p.Payload(), p.Err)
		}
	})
}

func TestResetBeforeHead(t *testing.T) {
	addr := serve(t, func(conn *net.TCPConn) {
		readRequest(conn)
		_ = conn.SetLinger(0)
	})
	fetchOnce(t, testOptions(), LoopbackOnly(), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.Reset || len(p.Raw) != 0 {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}

func TestRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().(*net.TCPAddr).AddrPort()
	_ = listener.Close()
	fetchOnce(t, testOptions(), LoopbackOnly(), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.Refused {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}

// What is connected to is the vetted address, and the guard is asked at that moment.
func TestHostile_N10_theGuardIsAskedAtTheMomentOfConnecting(t *testing.T) {
	addr := serve(t, func(*net.TCPConn) { t.Error("somebody connected") })
	fetchOnce(t, testOptions(), NetDialer(addrguard.New(nil, nil, nil)), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.BlockedAddress {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
	public := netip.MustParseAddrPort("8.8.8.8:22")
	fetchOnce(t, testOptions(), NetDialer(addrguard.New(nil, nil, nil)), targetAt(public), func(p *Page) {
		if p.Outcome != outcome.BlockedPort {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}

func TestLoopbackOnly(t *testing.T) {
	d := LoopbackOnly()
	for addr, want := range map[string]error{
		"8.8.8.8:80": addrguard.ErrBlockedAddress, "10.0.0.1:80": addrguard.ErrBlockedAddress,
		"[2606:4700::1]:80": addrguard.ErrBlockedAddress,
		"240.0.0.1:80":      addrguard.ErrBlockedAddress, "localhost:80": ErrName,
		"a.example:80": ErrName, "127.0.0.1": ErrName,
	} {
		if _, err := d.DialContext(t.Context(), "tcp", addr); !errors.Is(err, want) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if _, err := d.DialContext(t.Context(), "unix", "127.0.0.1:80"); !errors.Is(err, ErrName) {
		t.Errorf("udp: %v", err)
	}
}

// A fetch that waits for a server holds no buffer, and ends when the context ends.
func TestIdleFetchersHoldNothing(t *testing.T) {
	const n = 50
	arrived := make(chan struct{}, n)
	addr := serve(t, func(conn *net.TCPConn) {
		readRequest(conn)
		arrived <- struct{}{}
		_, _ = conn.Read(make([]byte, 1))
	})
	pool := NewPool(PoolOptions{Pages: n})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			f := NewFetcher(testOptions(), LoopbackOnly(), pool)
			p := pool.TryGet()
			if got := f.Fetch(ctx, targetAt(addr), p); got != outcome.Cancelled {
				t.Errorf("%v %s", got, p.Err)
			}
			pool.Put(p)
		})
	}
	for range n {
		<-arrived
	}
	if s := pool.Stats(); s.PagesOut != n || s.BuffersMade != [3]int{} {
		t.Errorf("%+v", s)
	}
	cancel()
	all.Wait()
	pool.Close()
}

// H24: many workers on one pool never get each other's bytes.
func TestHostile_H24_workersGetTheirOwnBytes(t *testing.T) {
	addr := serve(t, func(conn *net.TCPConn) {
		path, _, _ := strings.Cut(strings.TrimPrefix(readRequest(conn), "GET /"), " ")
		_, _ = io.WriteString(conn, framed("chunked", strings.Repeat(path+"\n", 20_000)))
	})
	pool := NewPool(PoolOptions{Pages: 4, Slabs: 4, Mids: 4})
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			f := NewFetcher(testOptions(), LoopbackOnly(), pool)
			defer f.Close()
			for i := range 20 {
				p, err := pool.Get(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				name := fmt.Sprintf("%d-%d", worker, i)
				target := targetAt(addr)
				target.URL = []byte("http://a.example/" + name)
				if f.Fetch(t.Context(), target, p) != outcome.OK ||
					string(p.Payload()) != strings.Repeat(name+"\n", 20_000) {
					t.Errorf("%s: %v %s, starts %.20q", name, p.Outcome, p.Err, p.Payload())
				}
				pool.Put(p)
			}
		})
	}
	all.Wait()
	pool.Close()
}
