package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Dialer makes connections: the seam where the network ends and a simulated one begins. Addresses are always literal.
type Dialer interface {
	// DialContext connects to addr, HOST:PORT with a literal address. It keeps to ctx and its deadline.
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// AddrDialer is a Dialer that can be spared the text. Its ctx may have a deadline at which Done is not closed.
type AddrDialer interface {
	Dialer
	// DialAddr connects to addr over TCP.
	DialAddr(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

// netDialer is the only place that makes connections.
type netDialer struct {
	check   func(netip.AddrPort) error
	connect func(context.Context, netip.AddrPort) (net.Conn, error)
}

// NetDialer returns the dialer of the real network. It asks g about the very address it then connects to: no name is
// looked up here, and one that is given is refused.
func NetDialer(g *Guard) Dialer {
	return newNetDialer(g.Check)
}

// LoopbackOnly returns a dialer that reaches loopback and nothing else: for demonstrations, benchmarks and tests, so that
// no mistake in a resolver or a proxy setting can send a request to a stranger.
func LoopbackOnly() Dialer {
	return newNetDialer(func(addr netip.AddrPort) error {
		if ip := addr.Addr(); ip.Unmap().IsLoopback() && ip.Zone() == "" {
			return nil
		}
		return fmt.Errorf("%w: %v is not loopback", ErrBlockedAddress, addr)
	})
}

func newNetDialer(check func(netip.AddrPort) error) *netDialer {
	return &netDialer{check: check, connect: connectSocket}
}

// connectNet connects with package net. One request per connection needs no keep-alive probes, and they cost three system
// calls. TCP_NODELAY is set by package net. Not by DialTCP: that binds every connection to a port before it connects, and a
// port that is bound belongs to nobody else, whatever the addresses: there would be 28 thousand connections in all, those
// in TIME_WAIT included.
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
