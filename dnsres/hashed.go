package dnsres

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strings"

	"github.com/zeebo/xxh3"
)

// Hashed is a resolver that makes addresses up: 240.0.0.0 plus the xxh3 hash of the name modulo N. Nothing lives in
// 240.0.0.0/4, so such an address serves as a politeness key behind a proxy and can never be connected to.
type Hashed struct {
	N uint32 // number of addresses, at most 1<<28; 0 means 1<<28
}

// Resolve answers at once and never asks anyone. Literal addresses pass through as themselves, and localhost and what ends in it is this
// machine as for every other resolver: else a proxy would be asked for what runs beside it.
func (h Hashed) Resolve(_ context.Context, name string) Answer {
	if bare := strings.TrimSuffix(name, "."); strings.HasSuffix(bare, "localhost") {
		if a, ok := special(bare, false); ok {
			return a
		}
	}
	if addr, ok := literal(name); ok {
		return Answer{Addrs: []netip.Addr{addr}}
	}
	if name == "" {
		return Answer{Err: ErrName}
	}
	const all = 1 << 28
	n := uint64(h.N)
	if n == 0 || n > all {
		n = all
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], 240<<24|uint32(xxh3.HashString(name)%n))
	return Answer{Addrs: []netip.Addr{netip.AddrFrom4(b)}}
}

// literal reads an IP address, with or without the brackets that URLs put around IPv6. Zones are refused: they mean
// nothing on the web.
func literal(name string) (netip.Addr, bool) {
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	}
	// A name that ends in a letter and has no colon is no address; to find that out by parsing would allocate.
	if name == "" || name[len(name)-1] > '9' && !strings.Contains(name, ":") {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(name)
	if err != nil || addr.Zone() != "" {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}
