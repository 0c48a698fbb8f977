package post

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// A stranger opens 300 connections and says nothing. 32 of them wait for the end of their time; an agent from elsewhere connects at once, where all 256
// places were taken and it waited for ten seconds. Neighbours of one IPv6 network are one stranger.
func TestHostilePeer_P6_oneStrangerLeavesRoomForOthers(t *testing.T) {
	for name, from := range map[string]func(i int) string{
		"IPv4": func(int) string { return "203.0.113.7:9" },
		"IPv6": func(i int) string {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 13: byte(i >> 8), 15: byte(i)}), 9).String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage(t, true)
				a, _ := v.agent("a", Options{})
				b, at := v.agent("b", Options{})
				for i := range 300 {
					v.mu.Lock()
					v.from = netip.MustParseAddrPort(from(i))
					v.mu.Unlock()
					if _, err := v.Dial(t.Context(), at.Addr); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				v.mu.Lock()
				v.from = netip.AddrPort{}
				v.mu.Unlock()
				if n := b.Stats().Refused[RefusedCrowd]; n != 300-strangersOfOne {
					t.Errorf("%d connections are refused", n)
				}
				began := time.Now()
				if err := a.Send(t.Context(), at, []byte("letter")); err != nil || time.Since(began) > time.Second {
					t.Errorf("an honest agent, after %v: %v", time.Since(began), err)
				}
				v.cut()
			})
		})
	}
}
