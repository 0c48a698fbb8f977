package trial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// recordingDialer records the addresses.
type recordingDialer []netip.AddrPort

var errNotConnected = errors.New("not connected")

func (a *recordingDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errNotConnected
}

func (a *recordingDialer) DialAddr(_ context.Context, to netip.AddrPort) (net.Conn, error) {
	*a = append(*a, to)
	return nil, errNotConnected
}

// Connections to a proxy of three addresses go to each of them in turn.
func TestSpreadUsesAddressesInTurn(t *testing.T) {
	to := &recordingDialer{}
	s, err := newSpread(to, netip.MustParseAddrPort("127.0.0.1:80"),
		[]string{"http://127.0.0.2:81", "http://127.0.0.3:82"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[netip.AddrPort]int{}
	for range 6 {
		if _, err := s.DialAddr(t.Context(), netip.MustParseAddrPort("127.0.0.1:80")); !errors.Is(err, errNotConnected) {
			t.Fatal(err)
		}
	}
	for _, addr := range *to {
		seen[addr]++
	}
	if len(seen) != 3 || seen[netip.MustParseAddrPort("127.0.0.3:82")] != 2 {
		t.Errorf("%v", seen)
	}
	if _, err := newSpread(to, netip.AddrPort{}, []string{"somewhere"}); err == nil {
		t.Error("somewhere is no address")
	}
}
