package engine

import "net/netip"

// Politeness, quotas and leases are by address, and whoever has an IPv6 network has 2^64 addresses of it. So they are
// by its key: an IPv4 address itself, and the network of an IPv6 address. Keys are made here and nowhere else; the
// bench, the quotas and the leases see keys only, and connections go to the address that the site has (see
// Site.connectTo).

// addrKeys are the bits of an IPv6 address that count; 128 makes each address a key.
type addrKeys int

// defaultIPv6Prefix is what one machine is given, or one customer at least.
const defaultIPv6Prefix = 64

const (
	leastIPv6Prefix = 32 // what a provider is given
	mostIPv6Prefix  = 128
)

// of gives the key of an address. An address that a translator makes of IPv4 (RFC 6052, RFC 8215) is one machine's, as
// that is.
func (bits addrKeys) of(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() || isTranslated(addr) {
		return addr
	}
	network, err := addr.Prefix(int(bits))
	if err != nil {
		panic("BUG: engine: " + err.Error()) // the configuration bounds the bits, and the resolver gives addresses
	}
	return network.Addr()
}

// isTranslated says whether an IPv6 address lies in 64:ff9b::/96 or 64:ff9b:1::/48, behind which are IPv4 addresses.
func isTranslated(addr netip.Addr) bool {
	a := addr.As16()
	return [4]byte(a[:4]) == [4]byte{0x00, 0x64, 0xff, 0x9b} && ([8]byte(a[4:12]) == [8]byte{} || a[4] == 0 && a[5] == 1)
}
