package fetch

import (
	"fmt"
	"net/netip"
	"slices"
)

// Guard is the address policy: what may be connected to. It is immutable and safe for concurrent use.
//
// Without leave it refuses every address that is not a public unicast one, in whatever form it is written: special-purpose
// ranges of IANA's registries, IPv4 mapped into IPv6, addresses that tunnel to others (NAT64, 6to4, Teredo), zones.
type Guard struct {
	allow    []netip.Prefix
	deny     []netip.Prefix
	ports    []uint16
	upstream []netip.AddrPort
	only     bool // nothing but upstream
}

// defaultPorts are where web servers live.
func defaultPorts() []uint16 {
	return []uint16{80, 81, 443, 591, 3000, 5000, 8000, 8008, 8080, 8081, 8088, 8443, 8888}
}

// NewGuard makes a policy that lifts the rules for the ranges in allow (ports included), allows the given ports besides
// the usual ones, and knows upstream: proxies, which only the guard that Upstream returns lets through. It copies all.
func NewGuard(allow []netip.Prefix, ports []int, upstream []netip.AddrPort) *Guard {
	g := &Guard{ports: defaultPorts()}
	for _, p := range allow {
		g.allow = append(g.allow, unmapPrefix(p))
	}
	for _, p := range ports {
		if p > 0 && p < 1<<16 {
			g.ports = append(g.ports, uint16(p))
		}
	}
	for _, a := range upstream {
		g.upstream = append(g.upstream, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return g
}

// Deny returns a guard that besides refuses the ranges given, even where they are allowed otherwise: our own addresses,
// our control port's, our peers'.
func (g *Guard) Deny(ranges ...netip.Prefix) *Guard {
	other := *g
	other.deny = slices.Clone(g.deny)
	for _, p := range ranges {
		other.deny = append(other.deny, unmapPrefix(p))
	}
	return &other
}

// Upstream returns the guard for connections to a proxy: it lets the upstream addresses through and nothing else.
func (g *Guard) Upstream() *Guard {
	other := *g
	other.only = true
	return &other
}

// Check says whether addr may be connected to: nil, or an error that wraps ErrBlockedAddress or ErrBlockedPort.
func (g *Guard) Check(addr netip.AddrPort) error {
	ip := addr.Addr().Unmap()
	if !ip.IsValid() || ip.Zone() != "" {
		return fmt.Errorf("%w: %v", ErrBlockedAddress, addr)
	}
	if g.only {
		if slices.Contains(g.upstream, netip.AddrPortFrom(ip, addr.Port())) {
			return nil
		}
		return fmt.Errorf("%w: %v is not the proxy", ErrBlockedAddress, addr)
	}
	if contains(g.deny, ip) {
		return fmt.Errorf("%w: %v is denied by name", ErrBlockedAddress, addr)
	}
	if madeUp(ip) {
		return fmt.Errorf("%w: %v is nobody's", ErrBlockedAddress, addr)
	}
	if contains(g.allow, ip) {
		if inner, ok := nat64Inner(ip); ok && !contains(g.allow, inner) && special(inner) {
			return fmt.Errorf("%w: %v leads to %v", ErrBlockedAddress, addr, inner)
		}
		return nil
	}
	if special(ip) {
		return fmt.Errorf("%w: %v is special-purpose", ErrBlockedAddress, addr)
	}
	if !slices.Contains(g.ports, addr.Port()) {
		return fmt.Errorf("%w: %v", ErrBlockedPort, addr)
	}
	return nil
}

// contains says whether one of the ranges holds ip.
func contains(ranges []netip.Prefix, ip netip.Addr) bool {
	for _, r := range ranges {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

// unmapPrefix turns a range of IPv4-mapped addresses into the IPv4 range it means.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96).Masked()
	}
	return p.Masked()
}
