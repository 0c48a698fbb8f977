package post

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// nowhere is a network that must not be asked.
type nowhere struct{ t *testing.T }

func (n nowhere) Listen(_ context.Context, addr netip.AddrPort) (net.Listener, error) {
	n.t.Errorf("listened on %s", addr)
	return nil, errors.New("no")
}

func (n nowhere) Dial(_ context.Context, addr netip.AddrPort) (net.Conn, error) {
	n.t.Errorf("connected to %s", addr)
	return nil, errors.New("no")
}

// Without certificates nothing leaves loopback and nothing is taken from elsewhere; with them, an address still has to be one.
func TestPlain_staysOnLoopback(t *testing.T) {
	receive := func(context.Context, string, []byte) error { return nil }
	for _, addr := range []string{"0.0.0.0:1", "192.0.2.1:1", "[::]:1", "[2001:db8::1]:1", "[::ffff:192.0.2.1]:1"} {
		_, err := Listen(t.Context(), Options{Self: "a", Crawl: "c", Plain: true, Addr: netip.MustParseAddrPort(addr), Receive: receive, Network: nowhere{t}})
		if err == nil || !strings.Contains(err.Error(), "orbweaver ca init") {
			t.Errorf("listening on %s: %v", addr, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		a, _ := v.agent("a", Options{})
		for _, addr := range []string{"192.0.2.1:1", "[2001:db8::1]:1", "[::ffff:192.0.2.1]:1"} {
			if err := a.Send(t.Context(), Peer{"b", netip.MustParseAddrPort(addr)}, nil); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "not on loopback") {
				t.Errorf("to %s: %v", addr, err)
			}
		}
		secure := newVillage(t, true)
		s, _ := secure.agent("a", Options{})
		for _, o := range []*Office{a, s} {
			for _, addr := range []netip.AddrPort{{}, netip.MustParseAddrPort("0.0.0.0:7"), netip.MustParseAddrPort("127.0.0.1:0"), netip.MustParseAddrPort("224.0.0.1:7"), netip.MustParseAddrPort("[::ffff:0.0.0.0]:7")} {
				if err := o.Send(t.Context(), Peer{"b", addr}, nil); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no address") {
					t.Errorf("to %s: %v", addr, err)
				}
			}
		}
		far := &guest{Conn: &wire{net: v.wires, remote: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:5")), Conn: nothing{}, closed: make(chan struct{})}}
		if _, _, err := (&security{a, nil}).ServerHandshake(far); !errors.Is(err, ErrIdentity) || a.Stats().Refused[RefusedIdentity] != 1 {
			t.Errorf("somebody came from far: %v", err)
		}
	})
}

// nothing is a connection that can be closed.
type nothing struct{ net.Conn }

func (nothing) Close() error { return nil }

// Whatever is wrong with options is told at once.
func TestListen_tellsAllThatIsWrong(t *testing.T) {
	_, err := Listen(t.Context(), Options{Self: "a b", Window: 100, Patience: -1, Network: nowhere{t}})
	for _, want := range []string{`"a b"`, "a name of 0 bytes", "no identity", "no address", "nobody receives", "window 100", "patience of -1ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	card := issue(t, authority(t, "crawl-1"), "a", time.Hour)
	_, err = Listen(t.Context(), Options{Self: "b", Identity: card, Addr: netip.MustParseAddrPort("127.0.0.1:1"), Receive: func(context.Context, string, []byte) error { return nil }, Network: nowhere{t}})
	if err == nil || !strings.Contains(err.Error(), "the certificate is for agent a of crawl crawl-1, this is b") {
		t.Error(err)
	}
}

// Who has a certificate and then speaks something else than HTTP/2 is gone at once, counted, and leaves no place taken behind it.
func TestG05_noiseInsideTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		b, toB := v.agent("b", Options{})
		config := tlsOf(issue(t, v.authority, "evil", time.Hour))
		const times = 3 * connsOfOne
		for i := range times {
			raw, err := v.Dial(t.Context(), toB.Addr)
			if err != nil {
				t.Fatal(err)
			}
			conn := tls.Client(raw, config)
			if i%3 == 0 {
				_ = conn.Handshake()
			} else {
				_, _ = conn.Write([]byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\nPRI * HTTP/2.0 and more"))
			}
			if i%2 == 0 {
				_, _ = conn.Read(make([]byte, 1<<10))
			}
			conn.Close()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		b.conns.mu.Lock()
		defer b.conns.mu.Unlock()
		if b.conns.all != 0 || len(b.conns.of) != 0 || b.Stats().Refused[RefusedSilent] != times {
			t.Errorf("%d places are taken, refused %v", b.conns.all, b.Stats().Refused)
		}
	})
}

// A peer that listens elsewhere is found there, and its old connection ends; who is banned by hand is cut off.
func TestSend_aPeerThatMovesAndOneThatIsBanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		a, _ := v.agent("a", Options{})
		b, toB := v.agent("b", Options{})
		if err := a.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		b.Ban("a", "it sent addresses of our own network")
		synctest.Wait()
		if s := a.Stats().Peers[0]; !s.Since.IsZero() {
			t.Errorf("still connected: %+v", s)
		}
		if err := a.Send(t.Context(), toB, nil); !errors.Is(err, ErrBanned) || !strings.Contains(err.Error(), "addresses of our own network") {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		_, moved := v.agent("b", Options{})
		if err := a.Send(t.Context(), moved, nil); err != nil || moved == toB {
			t.Error(err)
		}
		if s := a.Stats().Peers; len(s) != 1 || s[0].Addr != moved.Addr || s[0].Out.Acknowledged != 2 {
			t.Errorf("%+v", s)
		}
	})
}
