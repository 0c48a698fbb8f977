package dnsres

import (
	"context"
	"net"
)

// DialFunc opens a connection; network is "udp" or "tcp". A net.Dialer's DialContext is one.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)
