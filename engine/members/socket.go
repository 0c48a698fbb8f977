package members

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// sockets are memberlist's own transport, UDP and TCP on one port, whose connections end when it does: a half-open host would hold Close up.
type sockets struct {
	*memberlist.NetTransport
	ctx    context.Context //nolint:containedctx // the life of the sockets
	cancel context.CancelFunc

	open    streams
	streams chan net.Conn // connections that were made to this agent, within bounds
	pumping sync.WaitGroup
	ended   chan struct{} // closed when the listener has ended
	ending  sync.Once
}

// freePortTries is how often a free port is looked for, since one that is free for TCP may not be for UDP.
const freePortTries = 10

func listen(ctx context.Context, at netip.AddrPort, log slog.Handler) (*sockets, error) {
	c := &memberlist.NetTransportConfig{BindAddrs: []string{at.Addr().Unmap().String()}, BindPort: int(at.Port()), Logger: slog.NewLogLogger(log, slog.LevelDebug)}
	tries := 1
	if at.Port() == 0 {
		tries = freePortTries
	}
	for {
		t, err := memberlist.NewNetTransport(c)
		if tries--; err != nil && tries > 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("members: listening on %v: %w: does another agent run here? give another --gossip", at, err)
		}
		s := &sockets{NetTransport: t}
		s.ctx, s.cancel = context.WithCancel(ctx)
		s.streams, s.ended = make(chan net.Conn), make(chan struct{})
		s.pumping.Go(s.pump)
		return s, nil
	}
}

// pump bounds the connections that come. It goes on until the listener has ended, which waits for each connection to be taken.
func (s *sockets) pump() {
	for {
		select {
		case conn := <-s.NetTransport.StreamCh():
			bound, ok := s.open.admit(conn)
			if !ok {
				continue
			}
			select {
			case s.streams <- bound:
			case <-s.ctx.Done():
				_ = bound.Close()
			}
		case <-s.ended:
			return
		}
	}
}

// StreamCh is where memberlist takes connections from.
func (s *sockets) StreamCh() <-chan net.Conn { return s.streams }

func (s *sockets) port() uint16 { return uint16(s.GetAutoBindPort()) }

// DialTimeout connects to an agent.
func (s *sockets) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &tied{Conn: conn, stop: context.AfterFunc(s.ctx, func() { _ = conn.Close() })}, nil
}

// DialAddressTimeout does the same: addresses suffice.
func (s *sockets) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return s.DialTimeout(a.Addr, timeout)
}

// Shutdown closes everything.
func (s *sockets) Shutdown() error {
	s.cancel()
	err := s.NetTransport.Shutdown()
	s.ending.Do(func() { close(s.ended) })
	s.pumping.Wait()
	return err
}

// tied is a connection that ends with the sockets.
type tied struct {
	net.Conn
	stop func() bool
}

// Close closes it.
func (t *tied) Close() error {
	t.stop()
	return t.Conn.Close()
}
