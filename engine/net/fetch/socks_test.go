package fetch

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"syscall"
	"testing"
	"time"

	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/fetch/socks"
	"orbweaver/internal/outcome"
)

// socksProxy answers one connection by a script of what it expects and what it replies, in hexadecimal.
func socksProxy(t *testing.T, script ...string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for i := 0; i+1 < len(script); i += 2 {
			want, _ := hex.DecodeString(script[i])
			got := make([]byte, len(want))
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != string(want) {
				t.Errorf("step %d: got %x, want %x: %v", i/2, got, want, err)
				return
			}
			reply, _ := hex.DecodeString(script[i+1])
			_, _ = conn.Write(reply)
		}
		_, _ = io.Copy(conn, conn) // an echo in place of the server
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

func dialSocks(t *testing.T, proxy netip.AddrPort, user *url.Userinfo, addr string) (net.Conn, error) {
	t.Helper()
	d := &socks.Dialer{
		Addr: proxy, Check: addrguard.New(nil, nil, nil).Check,
		Inner: NetDialer(addrguard.New(nil, nil, []netip.AddrPort{proxy}).Upstream()),
	}
	if user != nil {
		d.Name = user.Username()
		d.Password, _ = user.Password()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return addrDialer(d).DialAddr(ctx, netip.MustParseAddrPort(addr))
}

// Through a SOCKS proxy the connection is as a direct one, over either family, with or without a password.
func TestSocks_connects(t *testing.T) {
	for name, c := range map[string]struct {
		user   *url.Userinfo
		addr   string
		script []string
	}{
		"IPv4": {nil, "8.8.8.8:80", []string{"050100", "0500", "050100010808080800" + "50", "05000001000000000000"}},
		"IPv6, and a reply with a name": {
			nil, "[2600::1]:443",
			[]string{
				"050100", "0500", "05010004" + "26000000000000000000000000000001" + "01bb", "05000003" + "0161" + "0000",
			},
		},
		"a password": {
			url.UserPassword("me", "pw"), "8.8.8.8:80",
			[]string{"050102", "0502", "01026d65027077", "0100", "050100010808080800" + "50", "05000001000000000000"},
		},
	} {
		conn, err := dialSocks(t, socksProxy(t, c.script...), c.user, c.addr)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		echo := make([]byte, 5)
		_, werr := conn.Write([]byte("hello"))
		_, rerr := io.ReadFull(conn, echo)
		if err := errors.Join(werr, rerr, conn.Close()); err != nil || string(echo) != "hello" {
			t.Errorf("%s: %q, %v", name, echo, err)
		}
	}
}

// A crawl that stops does not wait for a proxy that does not answer.
func TestSocks_endsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.ReadFull(conn, make([]byte, len("\x05\x01\x00"))) // the first request, which gets no answer
		cancel()
		_, _ = io.Copy(io.Discard, conn)
	}()
	proxy := netip.MustParseAddrPort(l.Addr().String())
	f := NewFetcher(Options{UserAgent: "test"}, &socks.Dialer{
		Addr: proxy, Check: addrguard.New(nil, nil, nil).Check,
		Inner: NetDialer(addrguard.New(nil, nil, []netip.AddrPort{proxy}).Upstream()),
	}, NewPool(PoolOptions{Pages: 1}))
	defer f.Close()
	began := time.Now()
	target := Target{URL: []byte("http://a.test/"), Host: []byte("a.test"), Addr: netip.MustParseAddrPort("8.8.8.8:80")}
	if o := f.Fetch(ctx, &target, new(Page)); o != outcome.Cancelled || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", o, time.Since(began))
	}
}

// What the proxy says about the server counts against the server; the rest is a fault of the proxy. A forbidden address
// is not asked for.
func TestSocks_saysWhoseFaultItIs(t *testing.T) {
	const request = "05010001080808080050"
	for name, c := range map[string]struct {
		script []string
		want   outcome.Outcome
	}{
		"refused":          {[]string{"050100", "0500", request, "05050001000000000000"}, outcome.Refused},
		"unreachable":      {[]string{"050100", "0500", request, "05040001000000000000"}, outcome.Unreachable},
		"time-out":         {[]string{"050100", "0500", request, "05060001000000000000"}, outcome.ConnectTimeout},
		"wants a password": {[]string{"050100", "05ff"}, outcome.ProxyFault},
		"other protocol":   {[]string{"050100", "0500", request, "485454502f312e31"}, outcome.ProxyFault},
		"general failure":  {[]string{"050100", "0500", request, "05010001000000000000"}, outcome.Unreachable},
		"not allowed":      {[]string{"050100", "0500", request, "05020001000000000000"}, outcome.ProxyFault},
	} {
		_, err := dialSocks(t, socksProxy(t, c.script...), nil, "8.8.8.8:80")
		if o, cause, _ := dialFault(err); o != c.want {
			t.Errorf("%s: %v (%s), want %v: %v", name, o, cause, c.want, err)
		}
	}
	nothing := netip.MustParseAddrPort("127.0.0.1:1")
	_, err := dialSocks(t, nothing, nil, "8.8.8.8:80")
	if !errors.Is(err, socks.ErrProxy) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without a proxy: %v", err)
	}
	_, err = dialSocks(t, nothing, nil, "127.0.0.1:80")
	if !errors.Is(err, addrguard.ErrBlockedAddress) {
		t.Errorf("an address of this machine: %v", err)
	}
}
