package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/miekg/dns"

	"orbweaver/dnsres/dnstest"
	"orbweaver/internal/simweb/origin"
)

// ttl of the answers, in seconds.
const ttl = 300

// responder is the name server of a world's domain.
type responder struct {
	world *origin.Web
	zone  string
	names dnstest.Server
	addr  netip.AddrPort
	// servers are those of UDP and TCP; none if the web has no name server.
	servers []*dns.Server
	once    sync.Once
	err     error
	wg      sync.WaitGroup
}

// startDNS listens on one loopback address over UDP and TCP.
func startDNS(ctx context.Context, w *origin.Web, address string) (*responder, error) {
	ap, err := loopback(address)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	var l net.Listener
	var p net.PacketConn
	// With port 0 the one that UDP was given may be taken for TCP: then another is tried.
	for try := 0; ; try++ {
		if p, err = lc.ListenPacket(ctx, "udp", ap.String()); err != nil {
			return nil, fmt.Errorf("load: DNS: %w", err)
		}
		l, err = lc.Listen(ctx, "tcp", p.LocalAddr().String())
		if err == nil {
			break
		}
		_ = p.Close()
		if ap.Port() != 0 || try == 10 {
			return nil, fmt.Errorf("load: DNS: %w", err)
		}
	}
	r := &responder{world: w, zone: strings.ToLower(w.Config().Domain), addr: p.LocalAddr().(*net.UDPAddr).AddrPort()}
	r.names.Lookup = r.lookup
	r.servers = []*dns.Server{{PacketConn: p, Handler: &r.names}, {Listener: l, Handler: &r.names}}
	for _, s := range r.servers {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		r.wg.Go(func() { _ = s.ActivateAndServe() })
		<-started
	}
	return r, nil
}

// lookup is the answer to questions for a name: the address of a host of the world, or that there is none.
func (r *responder) lookup(name string) dnstest.Script {
	script := dnstest.Script{TTL: ttl, SOA: 60, Zone: r.zone}
	addr := r.world.AddrOf(name)
	switch {
	case addr.IsValid():
		script.Addrs = []netip.Addr{addr}
	case name == r.zone:
	case strings.HasSuffix(name, "."+r.zone):
		script.Rcode = dns.RcodeNameError
	default:
		return dnstest.Script{Rcode: dns.RcodeRefused}
	}
	return script
}

// shut stops the servers.
func (r *responder) shut() {
	r.once.Do(func() {
		for _, s := range r.servers {
			if err := s.Shutdown(); err != nil {
				r.err = errors.Join(r.err, fmt.Errorf("load: DNS: %w", err))
			}
		}
	})
}
