package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// Guard is the address policy: what may be connected to. Nothing changes it but Listening, and it is safe for concurrent use.
//
// Without leave it refuses every address that is not a public unicast one, in whatever form it is written: special-purpose
// ranges of IANA's registries, IPv4 mapped into IPv6, addresses that lead to others (NAT64, 6to4, Teredo, ISATAP), zones. What leads to an
// IPv4 address is judged as that address as well.
type Guard struct {
	allow    []netip.Prefix
	deny     []netip.Prefix
	ports    []uint16 // allowed everywhere
	named    []uint16 // of these, those that somebody asked for: they may be bad ones
	upstream []netip.AddrPort
	only     bool // nothing but upstream
	own      *ownAddrs
	control  []netip.AddrPort
	late     *lateAddrs // shared by all guards that were made of one
}

// lateAddrs are addresses that came to be known after the guard was made.
type lateAddrs struct {
	mu   sync.Mutex // held to add
	list atomic.Pointer[[]netip.AddrPort]
}

// defaultPorts are where web servers live.
func defaultPorts() []uint16 {
	return []uint16{80, 81, 443, 591, 3000, 5000, 8000, 8008, 8080, 8081, 8088, 8443, 8888}
}

// NewGuard makes a policy that lifts the rules for the ranges in allow (but not those for bad ports), allows the given ports besides
// the usual ones, bad ones too, and knows upstream: proxies, which only the guard that Upstream returns lets through. It copies all.
func NewGuard(allow []netip.Prefix, ports []int, upstream []netip.AddrPort) *Guard {
	g := &Guard{ports: defaultPorts(), late: &lateAddrs{}}
	for _, p := range allow {
		g.allow = append(g.allow, unmapPrefix(p))
	}
	for _, p := range ports {
		if p > 0 && p < 1<<16 {
			g.ports = append(g.ports, uint16(p))
			g.named = append(g.named, uint16(p))
		}
	}
	for _, a := range upstream {
		g.upstream = append(g.upstream, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return g
}

// Deny returns a guard that besides refuses the ranges given, even where they are allowed otherwise.
func (g *Guard) Deny(ranges ...netip.Prefix) *Guard {
	other := *g
	other.deny = slices.Clone(g.deny)
	for _, p := range ranges {
		other.deny = append(other.deny, unmapPrefix(p))
	}
	return &other
}

// Own returns a guard that besides refuses the addresses of this machine's interfaces, public ones among them, unless they are allowed
// by range. The error is the system's, which does not tell them.
func (g *Guard) Own() (*Guard, error) {
	own, err := newOwnAddrs()
	if err != nil {
		return nil, err
	}
	other := *g
	other.own = own
	return &other, nil
}

// Control returns a guard that besides refuses what we listen on ourselves, whatever is allowed. An unspecified address
// stands for all that reach this machine.
func (g *Guard) Control(addrs ...netip.AddrPort) *Guard {
	other := *g
	other.control = slices.Clone(g.control)
	for _, a := range addrs {
		other.control = append(other.control, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return &other
}

// Listening has this guard, and all that were made of it or that it was made of, refuse an address on which this process listens, as Control
// does: the port may be one that the system picked. It is called before the first connection.
func (g *Guard) Listening(addr netip.AddrPort) {
	g.late.mu.Lock()
	defer g.late.mu.Unlock()
	list := []netip.AddrPort{netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())}
	if before := g.late.list.Load(); before != nil {
		list = slices.Concat(*before, list)
	}
	g.late.list.Store(&list)
}

// isControl says whether this process listens on a port of an address.
func (g *Guard) isControl(ip netip.Addr, port uint16) bool {
	reaches := func(c netip.AddrPort) bool {
		return c.Port() == port && (c.Addr() == ip || ip.IsUnspecified() || c.Addr().IsUnspecified() && g.isHere(ip))
	}
	late := g.late.list.Load()
	return slices.ContainsFunc(g.control, reaches) || late != nil && slices.ContainsFunc(*late, reaches)
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
	if v4, ok := inner(ip); ok {
		if err := g.checkAddr(v4); err != nil {
			return fmt.Errorf("%v leads on: %w", addr, err)
		}
	}
	if err := g.checkAddr(ip); err != nil {
		return err
	}
	return g.checkPort(ip, addr.Port())
}

// Through says whether a proxy may be asked for a site with this address: as Check, but for addresses that were made up since
// nobody but the proxy knows the true ones.
func (g *Guard) Through(addr netip.AddrPort) error {
	if ip := addr.Addr().Unmap(); madeUp(ip) && !contains(g.deny, ip) {
		return g.checkPort(ip, addr.Port())
	}
	return g.Check(addr)
}

// checkAddr says whether an address may be connected to, on some port.
func (g *Guard) checkAddr(ip netip.Addr) error {
	switch {
	case contains(g.deny, ip):
		return fmt.Errorf("%w: %v is denied by name", ErrBlockedAddress, ip)
	case madeUp(ip):
		return fmt.Errorf("%w: %v is nobody's", ErrBlockedAddress, ip)
	case contains(g.allow, ip):
		return nil
	case special(ip):
		return fmt.Errorf("%w: %v is special-purpose", ErrBlockedAddress, ip)
	case g.own.has(ip):
		return fmt.Errorf("%w: %v is our own", ErrBlockedAddress, ip)
	}
	return nil
}

// checkPort says whether a port of an address that may be connected to may be, too.
func (g *Guard) checkPort(ip netip.Addr, port uint16) error {
	if g.isControl(ip, port) {
		return fmt.Errorf("%w: %v is our control port", ErrBlockedAddress, netip.AddrPortFrom(ip, port))
	}
	switch {
	case slices.Contains(g.named, port):
		return nil
	case badPort(port), !slices.Contains(g.ports, port) && !contains(g.allow, ip):
		return fmt.Errorf("%w: %v", ErrBlockedPort, netip.AddrPortFrom(ip, port))
	}
	return nil
}

// isHere says whether ip is an address of this machine.
func (g *Guard) isHere(ip netip.Addr) bool { return ip.IsLoopback() || g.own.has(ip) }

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
