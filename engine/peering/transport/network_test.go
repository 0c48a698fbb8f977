package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering"
)

// noNetwork must not be used.
type noNetwork struct{ t *testing.T }

func (n noNetwork) Listen(_ context.Context, addr netip.AddrPort) (net.Listener, error) {
	n.t.Errorf("listened on %s", addr)
	return nil, errors.New("no")
}

func (n noNetwork) Dial(_ context.Context, addr netip.AddrPort) (net.Conn, error) {
	n.t.Errorf("connected to %s", addr)
	return nil, errors.New("no")
}

// Without certificates an agent listens on loopback, connects to loopback and accepts from loopback. With certificates
// the address of a peer must still be one.
func TestPlain_staysOnLoopback(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:1", "192.0.2.1:1", "[::]:1", "[2001:db8::1]:1", "[::ffff:192.0.2.1]:1"} {
		_, err := Open(t.Context(), Options{
			Self: "a", Crawl: "c", Plain: true, Addr: netip.MustParseAddrPort(addr), Receive: acceptAll, Network: noNetwork{t},
		})
		if err == nil || !strings.Contains(err.Error(), "orbweaver ca init") {
			t.Errorf("listening on %s: %v", addr, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		a, _ := c.agent("a", Options{})
		for _, addr := range []string{"192.0.2.1:1", "[2001:db8::1]:1", "[::ffff:192.0.2.1]:1"} {
			err := send(t, a, Peer{"b", netip.MustParseAddrPort(addr)}, nil)
			if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "not on loopback") {
				t.Errorf("to %s: %v", addr, err)
			}
		}
		secure, _ := newCluster(t, true).agent("a", Options{})
		for _, from := range []*Transport{a, secure} {
			for _, addr := range []string{"", "0.0.0.0:7", "127.0.0.1:0", "224.0.0.1:7", "[::ffff:0.0.0.0]:7"} {
				to, _ := netip.ParseAddrPort(addr)
				err := send(t, from, Peer{"b", to}, nil)
				if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no address") {
					t.Errorf("to %s: %v", addr, err)
				}
			}
		}
		far := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:5"))
		conn := &accepted{Conn: &memoryConn{
			net: c.memoryNetwork, remote: far, Conn: closable{}, closed: make(chan struct{}),
		}}
		_, _, err := (&handshaker{auth: a.auth}).ServerHandshake(conn)
		if !errors.Is(err, ErrIdentity) || refusedBy(a)[RefusedIdentity] != 1 {
			t.Errorf("a connection from another machine: %v", err)
		}
	})
}

// closable is a connection that can be closed.
type closable struct{ net.Conn }

func (closable) Close() error { return nil }

// Open reports all faults of the options at once.
func TestOpen_reportsAllFaults(t *testing.T) {
	_, err := Open(t.Context(), Options{Self: "a b", Window: 100, MemoryMax: 1, Patience: -1, Network: noNetwork{t}})
	for _, want := range []string{
		`"a b"`, "a name of 0 bytes", "no identity", "no address", "no Receive", "window 100", "memory 1", "patience of -1ns",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	id := issue(t, newAuthority(t, "crawl-1"), "a", time.Hour)
	_, err = Open(t.Context(), Options{
		Self: "b", Identity: id, Addr: netip.MustParseAddrPort("127.0.0.1:1"), Receive: acceptAll, Network: noNetwork{t},
	})
	if err == nil || !strings.Contains(err.Error(), "the certificate is for agent a of crawl crawl-1, this is b") {
		t.Error(err)
	}
}

// banOnText is a Receive that bans the sender of any text.
func banOnText(_ context.Context, _ string, batch []byte) error {
	if len(batch) > 0 {
		return fmt.Errorf("%w: it floods", peering.ErrBanned)
	}
	return nil
}

// A peer that listens at another address is found there, and the old connection ends. A peer that Receive bans is
// disconnected.
func TestSend_aPeerThatMovesAndOneThatIsBanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		a, _ := c.agent("a", Options{})
		b, toB := c.agent("b", Options{Receive: banOnText})
		if err := send(t, a, toB, nil); err != nil {
			t.Fatal(err)
		}
		if err := send(t, a, toB, []byte("flood")); err == nil {
			t.Error("the message for which it is banned is taken")
		}
		synctest.Wait()
		if n := connectionsTo(b); n != 0 {
			t.Errorf("%d connections", n)
		}
		err := send(t, a, toB, nil)
		if !errors.Is(err, peering.ErrBanned) || !strings.Contains(err.Error(), "it floods") {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		_, moved := c.agent("b", Options{})
		if err := send(t, a, moved, nil); err != nil || moved == toB {
			t.Error(err)
		}
		synctest.Wait()
		if c.open() != 1 {
			t.Errorf("%d connections", c.open())
		}
	})
}

// A proof of the name needs a handshake with the certificate of the name, and no more. A peer that bans this agent has
// its name nevertheless.
func TestProve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		a, _ := c.agent("a", Options{Patience: time.Second})
		_, toB := c.agent("b", Options{Receive: banOnText})
		if err := send(t, a, toB, []byte("flood")); err == nil {
			t.Error("the message for which it is banned is taken")
		}
		if capacity, err := a.Prove(t.Context(), toB); err != nil || capacity < 1 {
			t.Errorf("capacity %d: %v", capacity, err)
		}
		if _, err := a.Prove(t.Context(), Peer{"c", toB.Addr}); !errors.Is(err, ErrIdentity) {
			t.Error(err)
		}
		if _, err := a.Prove(t.Context(), Peer{"d", addrAfter(toB.Addr)}); !errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
		if n := len(a.peers.byID); n != 1 || a.peers.byID["b"] == nil {
			t.Errorf("names without a proof are remembered: %d names", n)
		}
		plain, toPlain := newCluster(t, false).agent("p", Options{})
		if _, err := plain.Prove(t.Context(), toPlain); !errors.Is(err, ErrIdentity) {
			t.Error(err)
		}
	})
}
