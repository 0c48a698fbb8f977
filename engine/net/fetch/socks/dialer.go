package socks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Dialer reaches servers through a proxy.
type Dialer struct {
	Proxy
	Addr  netip.AddrPort             // of the proxy
	Check func(netip.AddrPort) error // whether a server may be reached
	Inner interface {                // connects to the proxy
		DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	}
}

// patience is how long the proxy may take if the context has no deadline.
const patience = time.Minute

// DialContext connects to a literal address over TCP. The proxy's answer is waited for until ctx ends or its deadline.
func (d *Dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	server, err := netip.ParseAddrPort(addr)
	if err != nil || network != "tcp" {
		return nil, fmt.Errorf("%w: it is given literal addresses for TCP, not %s %q", ErrProxy, network, addr)
	}
	if err := d.Check(server); err != nil {
		return nil, err
	}
	conn, err := d.Inner.DialContext(ctx, network, d.Addr.String())
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(patience)
	}
	err = conn.SetDeadline(deadline)
	aborted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0)) // it has passed, so the request fails
		close(aborted)
	})
	err = errors.Join(err, d.Request(conn, server))
	if !stop() {
		<-aborted
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
