package site

import (
	"net/netip"
	"testing"
	"time"
)

func FuzzSite(f *testing.F) {
	pool := NewRulesPool(0)
	f.Add(Append(nil, &State{Stored: 4, DenyAll: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b, pool)
		if err != nil {
			return
		}
		if _, err := Decode(Append(nil, &s), pool); err != nil {
			t.Error(err)
		}
	})
}

// A site with as many addresses as the snapshot's reader takes comes back with all; of more the site keeps no more.
func TestSite_asManyAddressesAsTheReaderTakes(t *testing.T) {
	addrs := make([]netip.Addr, AddrsMax+1)
	for i := range addrs {
		addrs[i] = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
	}
	var s State
	s.SetAddrs(addrs, addrs[0], time.Time{})
	got, err := Decode(Append(nil, &s), NewRulesPool(0))
	if err != nil || got.Addrs().Count() != AddrsMax {
		t.Errorf("%d addresses of %d: %v", got.Addrs().Count(), len(addrs), err)
	}
}
