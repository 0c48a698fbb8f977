package transport

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// One source opens 300 connections and sends nothing. 32 of them wait until their time ends; an agent at another
// address connects at once. Addresses of one IPv6 network are one source.
func TestHostilePeer_P6_oneSourceLeavesRoomForOthers(t *testing.T) {
	for name, from := range map[string]func(i int) netip.AddrPort{
		"IPv4": func(int) netip.AddrPort { return netip.MustParseAddrPort("203.0.113.7:9") },
		"IPv6": func(i int) netip.AddrPort {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 13: byte(i >> 8), 15: byte(i)}), 9)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, true)
				a, _ := c.agent("a", Options{})
				b, toB := c.agent("b", Options{})
				setSource := func(source netip.AddrPort) {
					c.mu.Lock()
					defer c.mu.Unlock()
					c.from = source
				}
				for i := range 300 {
					setSource(from(i))
					if _, err := c.Dial(t.Context(), toB.Addr); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				setSource(netip.AddrPort{})
				if n := refusedBy(b)[RefusedLimit]; n != 300-handshakesPerSource {
					t.Errorf("%d connections were refused", n)
				}
				began := time.Now()
				if err := send(t, a, toB, []byte("batch")); err != nil || time.Since(began) > time.Second {
					t.Errorf("an honest agent, after %v: %v", time.Since(began), err)
				}
				c.cut()
			})
		})
	}
}

// No more agents are known than PeersMax. Those that are known are served, and one that is forgotten makes room.
func TestPeersMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		b, toB := c.agent("b", Options{PeersMax: 2})
		for i, name := range []string{"a1", "a2", "a3"} {
			a, _ := c.agent(name, Options{})
			if err := send(t, a, toB, nil); (err == nil) != (i < 2) {
				t.Errorf("%s: %v", name, err)
			}
			if i == 2 {
				b.Forget("a1")
				if err := send(t, a, toB, nil); err != nil {
					t.Error(err)
				}
			}
		}
		if n := refusedBy(b)[RefusedLimit]; n != 1 {
			t.Errorf("%d refused", n)
		}
	})
}
