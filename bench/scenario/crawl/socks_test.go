package crawl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/fetch/socks"
)

// socksServer is a SOCKS5 proxy in front of hosts. It wants the name "me" with the password "secret".
type socksServer struct {
	hosts   fetch.Dialer
	refuses netip.Addr       // no server is there
	isDown  func() bool      // the proxy cannot be reached
	running sync.WaitGroup   // connections
	mu      sync.Mutex       // guards asked
	asked   []netip.AddrPort // what clients asked for
}

func (s *socksServer) addr() netip.AddrPort { return netip.MustParseAddrPort("192.0.2.250:1080") }

// DialContext connects to the proxy, and to nothing else.
func (s *socksServer) DialContext(_ context.Context, _, addr string) (net.Conn, error) {
	if addr != s.addr().String() {
		return nil, fmt.Errorf("%s is not the proxy", addr)
	}
	if s.isDown() {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	ours, theirs := net.Pipe()
	s.running.Go(func() {
		defer theirs.Close()
		s.serve(theirs)
	})
	return ours, nil
}

// serve serves one connection.
func (s *socksServer) serve(conn net.Conn) {
	to, err := s.accept(conn)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, to)
	s.mu.Unlock()
	if to.Addr() == s.refuses {
		_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	server, err := s.hosts.DialContext(context.Background(), "tcp", to.String()) //nolint:forbidigo // it ends at once
	if err != nil {
		return
	}
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	s.running.Go(func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	})
	_, _ = io.Copy(conn, server)
}

// accept reads what comes before the connection, and returns where it goes.
func (s *socksServer) accept(conn net.Conn) (to netip.AddrPort, err error) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(conn, b)
		}
		return b
	}
	read(int(read(2)[1]))
	_, _ = conn.Write([]byte{5, 2})
	name := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	if name != "me" || password != "secret" {
		_, _ = conn.Write([]byte{1, 1})
		return to, errors.New("wrong password")
	}
	_, _ = conn.Write([]byte{1, 0})
	length := 4
	if read(4)[3] == 4 {
		length = 16
	}
	ip, _ := netip.AddrFromSlice(read(length))
	port := read(2)
	return netip.AddrPortFrom(ip, uint16(port[0])<<8|uint16(port[1])), err
}

// A whole crawl through a SOCKS5 proxy fetches all pages, asks the proxy for addresses alone, and never for one that is
// not allowed. A server that the proxy cannot reach is given up. A proxy that is down for a while costs no page.
func TestSOCKS_aWholeCrawlThroughAProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		plain := testbed.HostWithRobots(20, testbed.AlwaysRespond(404, "", ""))
		hosts := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			"one.test": plain, "two.test": plain, "gone.test": plain, "inner.test": plain,
		}}
		addrOf := func(name string) netip.Addr { return hosts.Resolve(t.Context(), name).Addrs[0] }
		proxy := &socksServer{refuses: addrOf("gone.test"), isDown: func() bool {
			at := time.Since(start)
			return at > 30*time.Second && at < 5*time.Minute
		}}
		inner := addrOf("inner.test")
		hosts.Via = func(direct fetch.Dialer) fetch.Dialer {
			proxy.hosts = direct
			check := func(to netip.AddrPort) error {
				if to.Addr() == inner {
					return addrguard.ErrBlockedAddress
				}
				return nil
			}
			return &socks.Dialer{
				Proxy: socks.Proxy{Name: "me", Password: "secret"}, Addr: proxy.addr(), Check: check, Inner: proxy,
			}
		}
		r, _ := hosts.Crawl(t, func(c *engine.Config) { c.Limits.GiveUp = 24 * time.Hour })
		proxy.running.Wait()
		if r.Outcomes["ok"] != 42 || r.Outcomes["refused"] != 1 || r.Outcomes["robots-unreachable"] != 1 {
			t.Errorf("%v", r.Outcomes)
		}
		for _, host := range []string{"one.test", "two.test"} {
			if n := len(hosts.Pages(host)); n != 21 {
				t.Errorf("%s got %d requests for 21 pages", host, n)
			}
		}
		for _, to := range proxy.asked {
			if to.Addr() == inner || to.Port() != 80 {
				t.Errorf("the proxy was asked for %v", to)
			}
		}
		if took := time.Since(start); took < 5*time.Minute {
			t.Errorf("the crawl ended after %v, in the outage of the proxy", took)
		}
	})
}
