package fetch

import "net/netip"

// The special-purpose ranges, from IANA's registries of IPv4 and IPv6 special-purpose addresses. Those that the
// registries call globally reachable (AS112 and the like) are left out: they are ordinary servers.

// special says whether ip, unmapped, is anything but a public unicast address.
func special(ip netip.Addr) bool {
	if ip.Is4() {
		return special4(ip.As4())
	}
	return special6(ip.As16())
}

// special4 compares numbers rather than prefixes: this runs for every connection.
func special4(a [4]byte) bool {
	switch a[0] {
	case 0, 10, 127: // this network, private, loopback
		return true
	case 100:
		return a[1]&0xc0 == 64 // shared address space of carriers
	case 169:
		return a[1] == 254 // link-local, and the metadata services of clouds
	case 172:
		return a[1]&0xf0 == 16 // private
	case 192:
		switch a[1] {
		case 0:
			return a[2] == 0 || a[2] == 2 // IETF protocol assignments; documentation
		case 88:
			return a[2] == 99 // 6to4 relays
		case 168:
			return true // private
		}
	case 198:
		return a[1]&0xfe == 18 || (a[1] == 51 && a[2] == 100) // benchmarking; documentation
	case 203:
		return a[1] == 0 && a[2] == 113 // documentation
	}
	return a[0] >= 224 // multicast, reserved, broadcast
}

// special6 lets through 2000::/3, which is all the global unicast space there is, less what is special within it.
func special6(a [16]byte) bool {
	if a[0]&0xe0 != 0x20 {
		return true // loopback, mapped, NAT64, discard, unique local, link-local, multicast, SRv6 and the unassigned
	}
	switch {
	case a[0] == 0x20 && a[1] == 0x01 && a[2]&0xfe == 0: // 2001::/23: Teredo, benchmarking, ORCHID, ...
		return true
	case a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0d && a[3] == 0xb8: // documentation
		return true
	case a[0] == 0x20 && a[1] == 0x02: // 6to4: an IPv4 address in disguise
		return true
	case a[0] == 0x3f && a[1] == 0xff && a[2]&0xf0 == 0: // documentation
		return true
	}
	return false
}

// madeUp says whether ip is in 240.0.0.0/4, where nothing lives and resolvers may put what they make up. No rule allows it.
func madeUp(ip netip.Addr) bool {
	return ip.Is4() && ip.As4()[0] >= 240
}

// nat64Inner returns the IPv4 address inside one of 64:ff9b::/96.
func nat64Inner(ip netip.Addr) (netip.Addr, bool) {
	if !ip.Is6() {
		return netip.Addr{}, false
	}
	a := ip.As16()
	if [12]byte(a[:12]) != [12]byte{0x00, 0x64, 0xff, 0x9b} {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(a[12:])), true
}
