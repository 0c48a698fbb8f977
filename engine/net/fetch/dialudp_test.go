package fetch

import (
	"errors"
	"net"
	"net/netip"
	"orbweaver/engine/net/fetch/addrguard"
	"testing"
)

// DNS queries over UDP pass the same guard.
func TestNetDialer_carriesDatagramsToTheNameServersItMayReach(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	addr := netip.MustParseAddrPort(server.LocalAddr().String())
	d := NetDialer(addrguard.New(nil, nil, []netip.AddrPort{addr}).Upstream())
	c, err := d.DialContext(t.Context(), "udp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, _, err := server.ReadFrom(b); err != nil || string(b[:n]) != "question" {
		t.Errorf("%q %v", b[:n], err)
	}
	if _, err := d.DialContext(t.Context(), "udp", "127.0.0.1:9"); !errors.Is(err, addrguard.ErrBlockedAddress) {
		t.Errorf("a server that was not named: %v", err)
	}
}
