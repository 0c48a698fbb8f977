package simnet

import (
	"context"
	"net/netip"

	"github.com/miekg/dns"

	"orbweaver/dnsres/dnstest"
)

// SetDNS takes the name server down (it does not reply) or up.
func (n *Net) SetDNS(up bool) { n.names.Down(netip.AddrPort{}, !up) }

// SetLocal has fault asked before each connection and each question: what this machine has no means for fails there.
// Nil is a machine that has all it needs.
func (n *Net) SetLocal(fault func() error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.local = fault
}

func (n *Net) localFault() error {
	n.mu.Lock()
	local := n.local
	n.mu.Unlock()
	if local == nil {
		return nil
	}
	return local()
}

// Exchange is the name server of the simulated web, whatever its address: A records of the web's hosts, and NXDOMAIN.
func (n *Net) Exchange(ctx context.Context, q *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error) {
	n.mu.Lock()
	n.stats.Questions++
	n.mu.Unlock()
	if err := n.localFault(); err != nil {
		return nil, err
	}
	return n.names.Exchange(ctx, q, upstream, tcp)
}

// lookup is the answer to questions for a name.
func (n *Net) lookup(name string) dnstest.Script {
	s := dnstest.Script{TTL: 3600, Delay: 2 * n.o.Latency}
	if addr := n.world.AddrOf(name); addr.IsValid() {
		s.Addrs = []netip.Addr{addr}
	} else {
		s.Rcode = dns.RcodeNameError
	}
	return s
}
