package trial

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	"orbweaver/engine/net/fetch"
)

// spread is a dialer that uses the addresses of one proxy in turn. Two addresses have some 28,000 ports between them,
// including those of connections that ended recently.
type spread struct {
	fetch.AddrDialer
	to   []netip.AddrPort
	next atomic.Uint64
}

// newSpread returns a dialer that connects to the proxy, or to one of its further URLs, whatever it is asked for.
func newSpread(d fetch.Dialer, proxy netip.AddrPort, more []string) (*spread, error) {
	s := &spread{to: []netip.AddrPort{proxy}}
	var ok bool
	if s.AddrDialer, ok = d.(fetch.AddrDialer); !ok {
		return nil, fmt.Errorf("trial: the dialer accepts no addresses: %T", d)
	}
	for _, url := range more {
		to, err := netip.ParseAddrPort(strings.TrimPrefix(url, "http://"))
		if err != nil {
			return nil, fmt.Errorf("trial: an address of the proxy: %w", err)
		}
		s.to = append(s.to, to)
	}
	return s, nil
}

// DialAddr connects to the proxy.
func (s *spread) DialAddr(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
	return s.AddrDialer.DialAddr(ctx, s.to[s.next.Add(1)%uint64(len(s.to))])
}
