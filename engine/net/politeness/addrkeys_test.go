package politeness

import (
	"net/netip"
	"testing"
)

func TestAddressesOfANetworkHaveOneKey(t *testing.T) {
	for _, c := range []struct {
		bits      AddrKeys
		addr, key string
	}{
		{64, "192.0.2.1", "192.0.2.1"},
		{64, "::ffff:192.0.2.1", "192.0.2.1"},
		{64, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
		{64, "2001:db8:1:2::", "2001:db8:1:2::"},
		{64, "2001:db8:1:3::1", "2001:db8:1:3::"},
		{64, "fe80::1%eth0", "fe80::"},
		{48, "2001:db8:1:2:3:4:5:6", "2001:db8:1::"},
		{56, "2001:db8:1:2ff::1", "2001:db8:1:200::"},
		{128, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"},
		{32, "64:ff9b::c000:201", "64:ff9b::c000:201"}, // of a translator: as many machines as IPv4 has
		{64, "64:ff9b:1:2::c000:201", "64:ff9b:1:2::c000:201"},
		{64, "64:ff9b:2::1", "64:ff9b:2::"},
	} {
		if got := c.bits.KeyOf(netip.MustParseAddr(c.addr)); got.String() != c.key {
			t.Errorf("%s by %d bits: %v, want %s", c.addr, c.bits, got, c.key)
		}
	}
}
