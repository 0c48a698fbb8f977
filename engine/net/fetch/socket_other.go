//go:build !linux

package fetch

import (
	"context"
	"net"
	"net/netip"
)

// connectSocket connects to addr over TCP.
func connectSocket(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	return connectNet(ctx, addr)
}
