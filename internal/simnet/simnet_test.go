package simnet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
	"golang.org/x/net/nettest"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/origin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func world(t testing.TB) *origin.Web {
	t.Helper()
	c := simweb.Plain()
	c.Seed, c.Hosts, c.IPs = 1, 20, 5
	w, err := origin.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// get asks for the first page of a host over one connection.
func get(ctx context.Context, n *Net, host string) (int, error) {
	conn, err := n.DialContext(ctx, "tcp", netip.AddrPortFrom(n.world.AddrOf(host), 80).String())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// httpHost is a host of the world whose pages are at port 80.
func httpHost(t testing.TB, w *origin.Web) string {
	t.Helper()
	for i := range w.Hosts() {
		if w.Root(i) == "http://"+w.Host(i)+"/" {
			return w.Host(i)
		}
	}
	t.Fatal("no host of this world is at port 80: take another seed")
	return ""
}

// story runs a test in virtual time.
func story(t *testing.T, o Options, tell func(t *testing.T, n *Net, host string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world(t)
		n := New(w, o)
		defer n.Close()
		tell(t, n, httpHost(t, w))
	})
}

func TestAPageInVirtualTime(t *testing.T) {
	story(
		t,
		Options{Latency: time.Second, Serve: origin.ServeOptions{Plain: true}},
		func(t *testing.T, n *Net, host string) {
			start := time.Now()
			status, err := get(t.Context(), n, host)
			if err != nil || status != 200 {
				t.Fatal(status, err)
			}
			if took := time.Since(start); took != 4*time.Second {
				t.Fatalf("connecting, asking and answering took %v", took)
			}
		},
	)
}

func TestHostsGoDownAndUp(t *testing.T) {
	story(t, Options{}, func(t *testing.T, n *Net, host string) {
		n.SetHost(host, Refused)
		if _, err := get(t.Context(), n, host); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatal(err)
		}
		n.SetHost(host, Reset)
		if _, err := get(t.Context(), n, host); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		n.SetHost(host, BlackHole)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := get(ctx, n, host); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Fatal(err)
		}
		n.SetHost(host, Up)
		if status, err := get(t.Context(), n, host); err != nil || status != 200 {
			t.Fatal(status, err)
		}
		conn, err := n.DialContext(t.Context(), "tcp", netip.AddrPortFrom(n.world.AddrOf(host), 80).String())
		if err != nil {
			t.Fatal(err)
		}
		n.SetHost(host, Refused)
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		_ = conn.Close()
	})
}

func TestLossIsByseed(t *testing.T) {
	var lost [2][]bool
	for i := range lost {
		story(t, Options{Loss: 0.5, Seed: 7}, func(t *testing.T, n *Net, host string) {
			for range 40 {
				conn, err := n.DialContext(t.Context(), "tcp", netip.AddrPortFrom(n.world.AddrOf(host), 80).String())
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
				_, err = conn.Read(make([]byte, 1))
				lost[i] = append(lost[i], errors.Is(err, syscall.ECONNRESET))
				_ = conn.Close()
			}
		})
	}
	n := 0
	for i := range lost[0] {
		if lost[0][i] != lost[1][i] {
			t.Fatal("one seed, two networks")
		}
		if lost[0][i] {
			n++
		}
	}
	if n < 10 || n > 30 {
		t.Fatalf("%d of 40 were lost", n)
	}
}

// Nine of ten packets are lost: some pages come, late, and all waits end.
func TestLostPacketsAreSentAgain(t *testing.T) {
	story(
		t,
		Options{Latency: time.Second, Packets: 0.9, Seed: 3, Serve: origin.ServeOptions{Plain: true}},
		func(t *testing.T, n *Net, host string) {
			came := 0
			for range 40 {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				conn, err := n.DialContext(ctx, "tcp", netip.AddrPortFrom(n.world.AddrOf(host), 80).String())
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(10 * time.Minute))
				_, _ = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
				if all, err := io.ReadAll(conn); err == nil && len(all) > 0 {
					came++
				}
				_ = conn.Close()
			}
			if came == 0 || came == 40 {
				t.Errorf("%d pages of 40 came", came)
			}
		},
	)
}

// What fits into a small packet passes, and nothing else does.
func TestLargePacketsVanish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(world(t), Options{MTU: 1400})
		defer n.Close()
		c, s, _, err := n.connect(&net.TCPAddr{})
		if err != nil {
			t.Fatal(err)
		}
		defer n.served.Done()
		_, _ = c.Write(make([]byte, 1360))
		if k, err := s.Read(make([]byte, 2000)); k != 1360 || err != nil {
			t.Error(k, err)
		}
		_, _ = c.Write(make([]byte, 1361))
		_, _ = c.Write([]byte("what comes behind it waits"))
		_ = s.SetReadDeadline(time.Now().Add(time.Hour))
		if k, err := s.Read(make([]byte, 2000)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(k, err)
		}
		_, _ = c.Close(), s.Close()
		n.mu.Lock()
		clear(n.open)
		n.mu.Unlock()
	})
}

func TestNames(t *testing.T) {
	story(t, Options{Latency: time.Second}, func(t *testing.T, n *Net, host string) {
		ask := func(name string, kind uint16) *dns.Msg {
			q := new(dns.Msg)
			q.SetQuestion(dns.Fqdn(name), kind)
			reply, err := n.Exchange(t.Context(), q, netip.AddrPort{}, false)
			if err != nil {
				t.Fatal(err)
			}
			return reply
		}
		if a, ok := ask(host, dns.TypeA).Answer[0].(*dns.A); !ok || a.A.String() != n.world.AddrOf(host).String() {
			t.Fatal("wrong address")
		}
		if r := ask(host, dns.TypeAAAA); len(r.Answer) != 0 || r.Rcode != dns.RcodeSuccess {
			t.Fatal(r)
		}
		if r := ask("nobody.example", dns.TypeA); r.Rcode != dns.RcodeNameError {
			t.Fatal(r)
		}
		n.SetDNS(false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		q := new(dns.Msg)
		q.SetQuestion(dns.Fqdn(host), dns.TypeA)
		if _, err := n.Exchange(ctx, q, netip.AddrPort{}, false); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestCloseJoinsAll(t *testing.T) {
	story(t, Options{}, func(t *testing.T, n *Net, host string) {
		var conns []net.Conn
		for range 50 {
			conn, err := n.DialContext(t.Context(), "tcp", netip.AddrPortFrom(n.world.AddrOf(host), 80).String())
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
		if err := n.Close(); err != nil || n.Stats().Open != 0 || n.Stats().MostOpen != 50 {
			t.Fatal(err, n.Stats())
		}
		for _, c := range conns {
			if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
				t.Fatal(err)
			}
			_ = c.Close()
		}
		if _, err := n.DialContext(t.Context(), "tcp", "10.0.0.1:80"); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	})
}

func TestHalfCloseAndDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newConns(&net.TCPAddr{}, &net.TCPAddr{}, time.Second, 10, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			if n, err := c.Write([]byte("more than the window holds")); n != 26 || err != nil {
				t.Error(n, err)
			}
			_ = c.CloseWrite()
		})
		if all, err := io.ReadAll(s); string(all) != "more than the window holds" || err != nil {
			t.Fatalf("%q %v", all, err)
		}
		wg.Wait()
		if _, err := s.Write([]byte("back")); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if all, err := io.ReadAll(c); string(all) != "back" || err != nil {
			t.Fatalf("%q %v", all, err)
		}
		c2, s2 := newConns(&net.TCPAddr{}, &net.TCPAddr{}, 0, 10, nil)
		start := time.Now()
		_ = c2.SetReadDeadline(start.Add(5 * time.Second))
		_, err := c2.Read(make([]byte, 1))
		var ne net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() ||
			time.Since(start) != 5*time.Second {
			t.Fatal(err, time.Since(start))
		}
		_ = c2.SetReadDeadline(time.Time{})
		_, _ = s2.Write([]byte("abc"))
		_ = c2.Close() // with bytes unread: the other end is reset
		if _, err := s2.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if _, err := c2.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	})
}

// TestConnIsAConn runs the standard suite for connections.
func TestConnIsAConn(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		c, s := newConns(&net.TCPAddr{}, &net.TCPAddr{}, 0, 64<<10, nil)
		return c, s, func() { _, _ = c.Close(), s.Close() }, nil
	})
}

func BenchmarkPage(b *testing.B) {
	w := world(b)
	n := New(w, Options{Serve: origin.ServeOptions{Plain: true}})
	defer n.Close()
	host := httpHost(b, w)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := get(b.Context(), n, host); err != nil {
			b.Fatal(err)
		}
	}
}
