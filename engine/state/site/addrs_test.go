package site

import (
	"net/netip"
	"testing"
	"time"
)

// A site under the key of a network keeps its own address, in its snapshot form too; one whose address is its key keeps
// nothing beside it.
func TestASiteUnderTheKeyOfANetworkKeepsItsAddress(t *testing.T) {
	addr, key := netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("2001:db8::")
	var s State
	s.SetAddrs([]netip.Addr{addr}, key, time.Time{})
	got, err := Decode(Append(nil, &s), NewRulesPool(0))
	if err != nil || got.Addrs().Current(key) != addr || got.Addrs().Count() != 1 {
		t.Errorf("%v of %d addresses, want %v: %v", got.Addrs().Current(key), got.Addrs().Count(), addr, err)
	}
	s.SetAddrs([]netip.Addr{addr}, addr, time.Time{})
	if s.Addrs().list != nil || s.Addrs().Current(addr) != addr {
		t.Errorf("%v beside the key", s.Addrs().list)
	}
}
