package fetch

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/outcome"
)

// fetchTwice makes two exchanges, one after the other, by two Fetchers that share what keeps connections.
func fetchTwice(t *testing.T, o Options, first, second *Target, check func(a, b *Page, s IdleConnStats)) {
	t.Helper()
	o.Keep = NewIdleConns(time.Minute, 10)
	defer o.Keep.Close()
	pool := NewPool(PoolOptions{Pages: 2, Mids: 2, Slabs: 2, SlabBytes: o.BufferMax()})
	defer pool.Close()
	a, b := pool.TryGet(), pool.TryGet()
	defer pool.Put(a)
	defer pool.Put(b)
	for i, p := range []*Page{a, b} {
		f := NewFetcher(o, LoopbackOnly(), pool)
		f.Fetch(t.Context(), []*Target{first, second}[i], p)
		f.Close()
	}
	check(a, b, o.Keep.Stats())
}

// serveAll answers every request of a connection with the same bytes, and counts connections and requests.
func serveAll(t *testing.T, response string) (addr netip.AddrPort, conns, requests *atomic.Int32) {
	t.Helper()
	conns, requests = new(atomic.Int32), new(atomic.Int32)
	addr = serve(t, func(conn *net.TCPConn) {
		conns.Add(1)
		for readRequest(conn) != "" {
			requests.Add(1)
			if _, err := io.WriteString(conn, response); err != nil {
				return
			}
		}
	})
	return addr, conns, requests
}

func TestPersist_theSecondExchangeUsesTheConnection(t *testing.T) {
	addr, conns, _ := serveAll(t, framed("length", "hello"))
	fetchTwice(t, testOptions(), targetAt(addr), targetAt(addr), func(a, b *Page, s IdleConnStats) {
		if a.Outcome != outcome.OK || b.Outcome != outcome.OK || string(b.Payload()) != "hello" ||
			b.Connection.Remote != addr {
			t.Errorf("%v %s, %v %s %q %v", a.Outcome, a.Err, b.Outcome, b.Err, b.Payload(), b.Connection.Remote)
		}
		if strings.Contains(string(a.Request), "Connection:") {
			t.Errorf("request %q", a.Request)
		}
		if b.Times.Connected != b.Times.Started || b.Times.FirstByte.Before(b.Times.Connected) {
			t.Errorf("times %v %v %v", b.Times.Started, b.Times.Connected, b.Times.FirstByte)
		}
		if conns.Load() != 1 || s.Reused != 1 || s.Held != 1 {
			t.Errorf("%d connections, %+v", conns.Load(), s)
		}
	})
}

func TestHostile_H09_H11_H21_noConnectionIsKeptWhereTheNextAnswerMayBeginElsewhere(t *testing.T) {
	for _, c := range []struct{ name, response string }{
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
		{"the server closes", "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 2\r\n\r\nhi"},
		{"the server waits for no more than a second",
			"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1, max=9\r\nContent-Length: 2\r\n\r\nhi"},
		{"two framings", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"},
		{"more than was said", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, HTTP/1.1 200 OK"},
		{"bad chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"},
		{"lengths that differ", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi"},
		{"more than the limit", framed("length", strings.Repeat("x", 2000))},
		{"another protocol", "HTTP/1.1 101 Switching\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var conns atomic.Int32
			addr := serve(t, func(conn *net.TCPConn) { // one answer, and the end only when we hang up
				conns.Add(1)
				readRequest(conn)
				_, _ = io.WriteString(conn, c.response)
				if c.name == "lengths that differ" {
					return // which end with the connection
				}
				_, _ = conn.Read(make([]byte, 1))
			})
			o := testOptions()
			o.BodyMax = 1000
			fetchTwice(t, o, targetAt(addr), targetAt(addr), func(a, b *Page, s IdleConnStats) {
				if a.Outcome != b.Outcome || a.Status != b.Status {
					t.Errorf("%v, then %v %s", a.Outcome, b.Outcome, b.Err)
				}
				if conns.Load() != 2 || s != (IdleConnStats{}) {
					t.Errorf("%d connections, %+v", conns.Load(), s)
				}
			})
		})
	}
}

// A server may close a connection while it waits: that is seen before anything is asked. If it does so when the next
// request comes, that is told, and the request is not made again by itself.
func TestHostile_H25_aConnectionThatTheServerHasClosed(t *testing.T) {
	for _, early := range []bool{true, false} {
		t.Run(fmt.Sprintf("early %v", early), func(t *testing.T) {
			closed := make(chan struct{}, 3)
			var conns atomic.Int32
			addr := serve(t, func(conn *net.TCPConn) {
				conns.Add(1)
				readRequest(conn)
				_, _ = io.WriteString(conn, framed("length", "hello"))
				if !early {
					_, _ = conn.Read(make([]byte, 1)) // of the next request
				}
				_ = conn.Close()
				closed <- struct{}{}
			})
			o := testOptions()
			o.Keep = NewIdleConns(time.Minute, 10)
			defer o.Keep.Close()
			for i := range 3 {
				if early && i > 0 {
					<-closed
				}
				fetchOnce(t, o, LoopbackOnly(), targetAt(addr), func(p *Page) {
					if want := !early && i == 1; (p.Outcome == outcome.Stale) != want ||
						!want && (p.Err != "" || string(p.Payload()) != "hello") {
						t.Errorf("exchange %d: %v %s", i, p.Outcome, p.Err)
					}
				})
			}
			want := IdleConnStats{Held: 1, Stale: 2}
			connections := int32(3)
			if !early {
				want.Stale, connections = 1, 2
			}
			if s := o.Keep.Stats(); conns.Load() != connections || s != want {
				t.Errorf("%d connections, %+v", conns.Load(), s)
			}
		})
	}
}

// A connection is kept only for a request that comes while it is open; the request says whether it is.
func TestPersist_onlyForARequestThatComesInTime(t *testing.T) {
	said := strings.Replace(framed("length", "hello"), "\r\n\r\n", "\r\nKeep-Alive: timeout=5\r\n\r\n", 1)
	for _, c := range []struct {
		name, response string
		next           time.Duration
		asks, kept     bool
	}{
		{"soon", framed("length", "hello"), 4 * time.Second, true, true},
		{"never", framed("length", "hello"), -1, false, false},
		{"later than connections wait", framed("length", "hello"), time.Minute, false, false},
		{"before the server closes", said, 3 * time.Second, true, true},
		{"when the server closes", said, 4 * time.Second, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr, _, _ := serveAll(t, c.response)
			target := targetAt(addr)
			target.Next = c.next
			o := testOptions()
			o.Keep = NewIdleConns(time.Minute, 10)
			defer o.Keep.Close()
			fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
				asks := !strings.Contains(string(p.Request), "Connection: close\r\n")
				if kept := o.Keep.Stats().Held == 1; p.Outcome != outcome.OK || asks != c.asks || kept != c.kept {
					t.Errorf("%v, asks %v, kept %v", p.Outcome, asks, kept)
				}
			})
		})
	}
}

// A connection on which nothing comes any more, since a network on the way has forgotten it, says nothing about its
// server. The next one is new.
func TestPersist_aSilentConnectionBlamesNobody(t *testing.T) {
	var conns atomic.Int32
	addr := serve(t, func(conn *net.TCPConn) { // one answer
		conns.Add(1)
		readRequest(conn)
		_, _ = io.WriteString(conn, framed("length", "hello"))
		_, _ = io.Copy(io.Discard, conn)
	})
	o := testOptions()
	o.HeaderTimeout = time.Second // also enough for the other exchanges on a busy machine
	o.Keep = NewIdleConns(time.Minute, 10)
	defer o.Keep.Close()
	for i, want := range []outcome.Outcome{outcome.OK, outcome.Stale, outcome.OK} {
		fetchOnce(t, o, LoopbackOnly(), targetAt(addr), func(p *Page) {
			if p.Outcome != want || (p.Err == "kept connection silent") != (want == outcome.Stale) {
				t.Errorf("exchange %d: %v %s", i, p.Outcome, p.Err)
			}
		})
	}
	if conns.Load() != 2 {
		t.Errorf("%d connections", conns.Load())
	}
}

// A server that has closed a connection is not asked again to keep one for as long.
func TestPersist_learnsWhenAServerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewIdleConns(time.Minute, 2)
		defer k.Close()
		site, other := siteOf{name: xxh3.Uint128{Lo: 1}}, siteOf{name: xxh3.Uint128{Lo: 2}}
		for _, idle := range []time.Duration{9 * time.Second, 5 * time.Second, 7 * time.Second} {
			k.put(site, link{raw: &recordingConn{}}, 0)
			<-time.After(idle)
			l, _ := k.takeConn(site)
			<-time.After(time.Second) // the exchange does not count
			k.stale(site, &l)
		}
		for next, want := range map[time.Duration]bool{2 * time.Second: true, 3 * time.Second: false} {
			if got := k.keepsFor(site, next, addrConnsMax); got != want || !k.keepsFor(other, next, addrConnsMax) {
				t.Errorf("keeps for a request after %v: %v", next, got)
			}
		}
		for range 5 { // more servers than are remembered
			site.name.Lo++
			k.stale(site, &link{})
		}
		k.put(site, link{raw: &recordingConn{}}, 0)
		k.put(other, link{raw: &recordingConn{}}, 0)
		if len(k.useful) != 2 || k.keepsFor(siteOf{}, 0, addrConnsMax) || k.Stats().Held != 2 {
			t.Errorf("%d servers remembered, keeps one more: %v", len(k.useful), k.keepsFor(siteOf{}, 0, addrConnsMax))
		}
	})
}

// A server of many sites is not held by a connection for each.
func TestPersist_fewConnectionsToAnAddress(t *testing.T) {
	k := NewIdleConns(time.Minute, 100)
	defer k.Close()
	site := siteOf{addr: netip.MustParseAddrPort("192.0.2.1:80")}
	for ; k.keepsFor(site, 0, addrConnsMax); site.name.Lo++ {
		k.put(site, link{raw: &recordingConn{}}, 0)
	}
	elsewhere := siteOf{addr: netip.MustParseAddrPort("192.0.2.2:80")}
	if held := k.Stats().Held; held != addrConnsMax || !k.keepsFor(elsewhere, 0, addrConnsMax) {
		t.Errorf("%d connections to an address, another may have one: %v", held, k.keepsFor(elsewhere, 0, addrConnsMax))
	}
	site.name.Lo = 0
	if _, isHeld := k.takeConn(site); !isHeld || !k.keepsFor(site, 0, addrConnsMax) {
		t.Error("the connection that was used may not wait again")
	}
}

// A request that is to have a new connection gets one, and leaves it behind.
func TestPersist_fresh(t *testing.T) {
	addr, conns, _ := serveAll(t, framed("length", "hello"))
	fresh := targetAt(addr)
	fresh.Fresh = true
	fetchTwice(t, testOptions(), targetAt(addr), fresh, func(_, b *Page, s IdleConnStats) {
		if b.Outcome != outcome.OK || conns.Load() != 2 || s.Held != 2 || s.Reused != 0 {
			t.Errorf("%v, %d connections, %+v", b.Outcome, conns.Load(), s)
		}
	})
}

// A new connection without a response is not tried a second time.
func TestPersist_aNewConnectionIsNotTriedAgain(t *testing.T) {
	var conns atomic.Int32
	addr := serve(t, func(conn *net.TCPConn) {
		conns.Add(1)
		readRequest(conn)
	})
	o := testOptions()
	o.Keep = NewIdleConns(time.Minute, 10)
	defer o.Keep.Close()
	fetchOnce(t, o, LoopbackOnly(), targetAt(addr), func(p *Page) {
		if p.Outcome != outcome.Reset || conns.Load() != 1 {
			t.Errorf("%v %s, %d connections", p.Outcome, p.Err, conns.Load())
		}
	})
}

// Two sites at one address have a connection each; through a proxy, plain requests to all sites share theirs.
func TestPersist_sitesAreApart(t *testing.T) {
	addr, conns, requests := serveAll(t, framed("chunked", "hello"))
	other := targetAt(addr)
	other.Host, other.URL = []byte("b.example"), []byte("http://b.example/")
	fetchTwice(t, testOptions(), targetAt(addr), other, func(_, b *Page, s IdleConnStats) {
		if b.Outcome != outcome.OK || conns.Load() != 2 || s.Held != 2 {
			t.Errorf("direct: %v, %d connections, %+v", b.Outcome, conns.Load(), s)
		}
	})
	conns.Store(0)
	fetchTwice(t, proxied(addr.String()), targetAt(addr), other, func(_, b *Page, s IdleConnStats) {
		if b.Outcome != outcome.OK || conns.Load() != 1 || s.Held != 1 || requests.Load() != 4 {
			t.Errorf("proxy: %v, %d connections, %+v", b.Outcome, conns.Load(), s)
		}
	})
}

// TLS is agreed on once, and what is known of it goes with the connection.
func TestPersist_oneHandshake(t *testing.T) {
	ca := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Hour, "b.example")}}
	var handshakes atomic.Int32
	addr := serve(t, func(conn *net.TCPConn) {
		secure := tls.Server(conn, config)
		for readRequest(secure) != "" {
			if _, err := io.WriteString(secure, framed("length", "hello")); err != nil {
				return
			}
		}
		handshakes.Add(1)
	})
	o := testOptions()
	o.RootCAs = ca.pool()
	target := targetAt(addr)
	target.HTTPS, target.URL = true, []byte("https://a.example/")
	fetchTwice(t, o, target, target, func(a, b *Page, s IdleConnStats) {
		if a.Outcome != outcome.OK || b.Outcome != outcome.OK || s.Reused != 1 {
			t.Fatalf("%v %s, %v %s, %+v", a.Outcome, a.Err, b.Outcome, b.Err, s)
		}
		if !b.Connection.Secure || b.Connection.TLS != a.Connection.TLS || b.Connection.TLS.Fault != "wrong-name" {
			t.Errorf("TLS facts %+v, then %+v", a.Connection.TLS, b.Connection.TLS)
		}
	})
}

func TestKeepAliveTimeout(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"timeout=5, max=100": 4 * time.Second, "max=100, Timeout = 15": 14 * time.Second, "timeout=1": -1, "timeout=0": -1,
		"": 0, "max=3": 0, "timeout=x": 0, "timeout=-1": 0, "timeout=99999999999": 0, "timeout": 0,
	} {
		if got := keepAliveTimeout([]byte(value)); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// Bytes on a connection after its response are no response to the next request: the connection is closed. This also
// holds for connections that cannot report readiness.
func TestHostile_H23_H24_anAnswerThatComesUnaskedIsNobodys(t *testing.T) {
	for _, late := range []string{"", "rubbish", framed("length", "stolen")} {
		for _, shy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q, shy %v", late, shy), func(t *testing.T) {
				var conns atomic.Int32
				sent := make(chan struct{}, 2)
				kept := make(chan struct{}, 2)
				addr := serve(t, func(conn *net.TCPConn) {
					conns.Add(1)
					for readRequest(conn) != "" {
						_, _ = io.WriteString(conn, framed("length", "hello"))
						<-kept
						_, _ = io.WriteString(conn, late)
						sent <- struct{}{} // of two, so that no goroutine waits
					}
				})
				o := testOptions()
				o.TotalTimeout = 2 * time.Second // for a Fetcher that waits for more of what it takes for its answer
				o.Keep = NewIdleConns(time.Minute, 10)
				defer o.Keep.Close()
				d := LoopbackOnly()
				if shy {
					d = shyDialer{d}
				}
				for range 2 {
					fetchOnce(t, o, d, targetAt(addr), func(p *Page) {
						if p.Outcome != outcome.OK || string(p.Payload()) != "hello" {
							t.Errorf("%v %s, %q", p.Outcome, p.Err, p.Payload())
						}
					})
					kept <- struct{}{}
					<-sent
				}
				if want := min(len(late), 1) + 1; int(conns.Load()) != want {
					t.Errorf("%d connections, want %d", conns.Load(), want)
				}
			})
		}
	}
}
