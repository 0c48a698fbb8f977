package addrguard

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// Errors that refusals wrap.
var (
	// ErrBlockedAddress says that an address is not allowed.
	ErrBlockedAddress = errors.New("addrguard: address not allowed")
	// ErrBlockedPort says that a port is not allowed.
	ErrBlockedPort = errors.New("addrguard: port not allowed")
)

// Guard is the address guard: it decides which addresses may be contacted. Only Listening changes it, and it is safe
// for concurrent use.
//
// By default it refuses every address that is not a public unicast address, in whatever form it is written:
// special-purpose ranges of the IANA registries, IPv4-mapped IPv6, addresses with embedded IPv4 addresses (NAT64, 6to4,
// Teredo, ISATAP), and zones. An address that leads to an IPv4 address is judged as that address as well.
type Guard struct {
	allow      []netip.Prefix
	deny       []netip.Prefix
	ports      []uint16 // allowed everywhere
	named      []uint16 // of these, ports that the operator named: they may be bad ports
	upstream   []netip.AddrPort
	only       bool      // only the upstream addresses are allowed
	own        *ownAddrs // empty unless Own was called
	control    []netip.AddrPort
	addedAddrs *addedAddrs // shared by all guards that were derived from each other
}

// addedAddrs are addresses that were added after the guard was made.
type addedAddrs struct {
	mu   sync.Mutex // held while adding
	list atomic.Pointer[[]netip.AddrPort]
}

// defaultPorts returns the usual ports of web servers.
func defaultPorts() []uint16 {
	return []uint16{80, 81, 443, 591, 3000, 5000, 8000, 8008, 8080, 8081, 8088, 8443, 8888}
}

// New returns a guard that allows the ranges in allow (except bad ports there), and the given ports besides the
// usual ones, including bad ones. upstream are proxies, which only the guard returned by Upstream allows. It copies all
// arguments.
func New(allow []netip.Prefix, ports []int, upstream []netip.AddrPort) *Guard {
	g := &Guard{ports: defaultPorts(), own: new(ownAddrs), addedAddrs: &addedAddrs{}}
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

// Deny returns a guard that also refuses the given ranges, even if they are allowed otherwise.
func (g *Guard) Deny(ranges ...netip.Prefix) *Guard {
	other := *g
	other.deny = slices.Clone(g.deny)
	for _, p := range ranges {
		other.deny = append(other.deny, unmapPrefix(p))
	}
	return &other
}

// Own returns a guard that also refuses the addresses of this machine's interfaces, unless they are allowed by range.
// The error is that of the system, if it cannot list them.
func (g *Guard) Own() (*Guard, error) {
	own, err := newOwnAddrs()
	if err != nil {
		return nil, err
	}
	other := *g
	other.own = own
	return &other, nil
}

// Control returns a guard that also refuses the given addresses, on which this process listens, whatever is allowed. An
// unspecified address stands for all addresses of this machine.
func (g *Guard) Control(addrs ...netip.AddrPort) *Guard {
	other := *g
	other.control = slices.Clone(g.control)
	for _, a := range addrs {
		other.control = append(other.control, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}
	return &other
}

// Listening adds an address on which this process listens, like Control, to this guard and all guards derived from it
// or from which it was derived. The port may have been chosen by the system. It must be called before the first
// connection.
func (g *Guard) Listening(addr netip.AddrPort) {
	g.addedAddrs.mu.Lock()
	defer g.addedAddrs.mu.Unlock()
	list := []netip.AddrPort{netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())}
	if before := g.addedAddrs.list.Load(); before != nil {
		list = slices.Concat(*before, list)
	}
	g.addedAddrs.list.Store(&list)
}

// isControl reports whether this process listens on a port of an address.
func (g *Guard) isControl(ip netip.Addr, port uint16) bool {
	reaches := func(c netip.AddrPort) bool {
		return c.Port() == port && (c.Addr() == ip || ip.IsUnspecified() || c.Addr().IsUnspecified() && g.isHere(ip))
	}
	late := g.addedAddrs.list.Load()
	return slices.ContainsFunc(g.control, reaches) || late != nil && slices.ContainsFunc(*late, reaches)
}

// Upstream returns the guard for connections to a proxy: it allows only the upstream addresses.
func (g *Guard) Upstream() *Guard {
	other := *g
	other.only = true
	return &other
}

// Check returns nil if addr may be contacted; otherwise an error that wraps ErrBlockedAddress or ErrBlockedPort.
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

// Through is Check for a site that is fetched through a proxy. It also allows placeholder addresses, which stand for
// names that only the proxy can resolve.
func (g *Guard) Through(addr netip.AddrPort) error {
	if ip := addr.Addr().Unmap(); madeUp(ip) && !contains(g.deny, ip) {
		return g.checkPort(ip, addr.Port())
	}
	return g.Check(addr)
}

// checkAddr checks an address for any port.
func (g *Guard) checkAddr(ip netip.Addr) error {
	switch {
	case contains(g.deny, ip):
		return fmt.Errorf("%w: %v is denied by name", ErrBlockedAddress, ip)
	case madeUp(ip):
		return fmt.Errorf("%w: %v is reserved", ErrBlockedAddress, ip)
	case contains(g.allow, ip):
		return nil
	case special(ip):
		return fmt.Errorf("%w: %v is special-purpose", ErrBlockedAddress, ip)
	case g.own.has(ip):
		return fmt.Errorf("%w: %v is our own", ErrBlockedAddress, ip)
	}
	return nil
}

// checkPort checks a port of an allowed address.
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

// isHere reports whether ip is an address of this machine.
func (g *Guard) isHere(ip netip.Addr) bool { return ip.IsLoopback() || g.own.has(ip) }

// contains reports whether ip is in one of the ranges.
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
