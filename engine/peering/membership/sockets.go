package membership

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"
)

// sockets is memberlist's transport, UDP and TCP on one port. Its outgoing connections end with it. Otherwise a host
// that accepts connections and never answers would delay Close.
type sockets struct {
	*memberlist.NetTransport
	ctx    context.Context //nolint:containedctx // the lifetime of the sockets
	cancel context.CancelFunc
}

// freePortAttempts is the number of attempts to find a port that is free for both TCP and UDP.
const freePortAttempts = 10

func listen(ctx context.Context, at netip.AddrPort, log *slog.Logger) (*sockets, error) {
	config := &memberlist.NetTransportConfig{
		BindAddrs: []string{at.Addr().Unmap().String()}, BindPort: int(at.Port()),
		Logger: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	attempts := 1
	if at.Port() == 0 {
		attempts = freePortAttempts
	}
	for {
		t, err := memberlist.NewNetTransport(config)
		if attempts--; err != nil && attempts > 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("membership: listening on %v: %w: does another agent use the port? give another --gossip",
				at, err)
		}
		s := &sockets{NetTransport: t}
		s.ctx, s.cancel = context.WithCancel(ctx)
		return s, nil
	}
}

func (s *sockets) port() uint16 { return uint16(s.GetAutoBindPort()) }

// DialTimeout implements memberlist.Transport.
func (s *sockets) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &boundConn{Conn: conn, stop: context.AfterFunc(s.ctx, func() { _ = conn.Close() })}, nil
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (s *sockets) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return s.DialTimeout(a.Addr, timeout)
}

// Shutdown implements memberlist.Transport.
func (s *sockets) Shutdown() error {
	s.cancel()
	return s.NetTransport.Shutdown()
}

// boundConn is a connection that is closed with the sockets.
type boundConn struct {
	net.Conn
	stop func() bool
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
