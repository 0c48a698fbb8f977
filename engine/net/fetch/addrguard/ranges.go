package addrguard

import "net/netip"

// The special-purpose ranges of the IANA registries for IPv4 and IPv6. They include globally reachable ones (AS112,
// AMT, anycast services), because no web server is there. guard_test.go has both registries. The metadata services of
// clouds are in these ranges, except Azure's.

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
	case 168:
		// The host of Azure's virtual machines, for DNS, agents and metadata. No registry has it.
		return a[1] == 63 && a[2] == 129 && a[3] == 16
	case 169:
		return a[1] == 254 // link-local, and the metadata services of clouds
	case 172:
		return a[1]&0xf0 == 16 // private
	case 192:
		switch a[1] {
		case 0:
			return a[2] == 0 || a[2] == 2 // IETF protocol assignments; documentation
		case 31:
			return a[2] == 196 // AS112
		case 52:
			return a[2] == 193 // AMT
		case 175:
			return a[2] == 48 // AS112, direct delegation
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
	case a[0] == 0x26 && a[1] == 0x20 && [4]byte(a[2:6]) == [4]byte{0x00, 0x4f, 0x80, 0x00}: // AS112, direct delegation
		return true
	case a[0] == 0x3f && a[1] == 0xff && a[2]&0xf0 == 0: // documentation
		return true
	}
	return false
}

// madeUp says whether ip is in 240.0.0.0/4, where nothing lives and resolvers may put what they make up. No rule allows
// it.
func madeUp(ip netip.Addr) bool {
	return ip.Is4() && ip.As4()[0] >= 240
}

// inner returns the IPv4 address to which an IPv6 address leads, in the forms that say so: compatible, translated
// (SIIT, NAT64), 6to4, Teredo, ISATAP. A mapped one is IPv4 itself, and does not come here. Prefixes that operators
// choose for their own NAT64 cannot be told from others.
func inner(ip netip.Addr) (v4 netip.Addr, ok bool) {
	if !ip.Is6() {
		return netip.Addr{}, false
	}
	a := ip.As16()
	last := netip.AddrFrom4([4]byte(a[12:]))
	switch head := [12]byte(a[:12]); {
	case head == [12]byte{}: // compatible; but :: and ::1 are not meant
		return last, ip != netip.IPv6Unspecified() && ip != netip.IPv6Loopback()
	case head == [12]byte{8: 0xff, 9: 0xff}: // SIIT: ::ffff:0:0/96
		return last, true
	case head == [12]byte{0x00, 0x64, 0xff, 0x9b}: // NAT64
		return last, true
	case [6]byte(a[:6]) == [6]byte{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}:
		// NAT64 within a network; a /96 of it, as RFC 8215 advises.
		return last, true
	case a[0] == 0x20 && a[1] == 0x02: // 6to4
		return netip.AddrFrom4([4]byte(a[2:6])), true
	case [4]byte(a[:4]) == [4]byte{0x20, 0x01}: // Teredo: the client's address, in the negative
		for i := range 4 {
			a[12+i] ^= 0xff
		}
		return netip.AddrFrom4([4]byte(a[12:])), true
	case a[8]&^0x02 == 0 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe: // ISATAP, in any prefix
		return last, true
	}
	return netip.Addr{}, false
}
