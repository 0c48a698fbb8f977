package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"orbweaver/engine/net/fetch/addrguard"
)

// Dialer makes connections. Tests replace it with a simulated network. Addresses are always literal.
type Dialer interface {
	// DialContext connects to addr, HOST:PORT with a literal address. It respects ctx and its deadline.
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// AddrDialer is a Dialer that takes an address without formatting it as text. The deadline of its ctx does not close
// Done.
type AddrDialer interface {
	Dialer
	// DialAddr connects to addr over TCP.
	DialAddr(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

// textDialer gives a Dialer its addresses as text, and closes Done at the deadline.
type textDialer struct{ Dialer }

// DialAddr connects to addr over TCP.
func (d textDialer) DialAddr(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return d.DialContext(ctx, "tcp", addr.String())
}

// addrDialer returns d if it takes addresses, else a dialer that formats them for d.
func addrDialer(d Dialer) AddrDialer {
	if a, ok := d.(AddrDialer); ok {
		return a
	}
	return textDialer{d}
}

// netDialer is the only code that makes connections.
type netDialer struct {
	check   func(netip.AddrPort) error
	connect func(context.Context, netip.AddrPort) (net.Conn, error)
}

// NetDialer returns the dialer of the real network. It asks g about exactly the address that it then connects to. It
// resolves no names, and refuses an address that is a name.
func NetDialer(g *addrguard.Guard) Dialer {
	return newNetDialer(g.Check)
}

// LoopbackOnly returns a dialer that reaches loopback addresses only: for demonstrations, benchmarks and tests. So no
// mistake in a resolver or proxy setting can send a request to another machine.
func LoopbackOnly() Dialer {
	return newNetDialer(func(addr netip.AddrPort) error {
		if ip := addr.Addr(); ip.Unmap().IsLoopback() && ip.Zone() == "" {
			return nil
		}
		return fmt.Errorf("%w: %v is not loopback", addrguard.ErrBlockedAddress, addr)
	})
}

func newNetDialer(check func(netip.AddrPort) error) *netDialer {
	return &netDialer{check: check, connect: connectSocket}
}

// connectNet connects with package net. Without keep-alive probes, which one request does not need and which cost three
// system calls. Package net sets TCP_NODELAY. Not with DialTCP: it binds a local port before it connects, which makes
// the port unusable for all other destinations; then at most 28 thousand connections could exist, including those in
// TIME_WAIT.
func connectNet(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	return d.DialContext(ctx, "tcp", addr.String())
}

// DialContext connects to a literal address, over TCP or, for name servers, over UDP.
func (d *netDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	literal, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %s %q", ErrName, network, addr)
	}
	switch network {
	case "tcp", "tcp4", "tcp6":
		return d.DialAddr(ctx, literal)
	case "udp", "udp4", "udp6":
		if err := d.check(literal); err != nil {
			return nil, err
		}
		var plain net.Dialer
		return plain.DialContext(ctx, network, literal.String())
	default:
		return nil, fmt.Errorf("%w: %s %q", ErrName, network, addr)
	}
}

// DialAddr connects to addr.
func (d *netDialer) DialAddr(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	if err := d.check(addr); err != nil {
		return nil, err
	}
	return d.connect(ctx, addr)
}
