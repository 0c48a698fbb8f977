// Package dnsres turns names into addresses.
package dnsres

import (
	"context"
	"net/netip"

	"github.com/miekg/dns"
)

// Exchanger sends one question to one server and gives the reply: the seam between the Resolver and the network.
//
// It returns when a reply has come or ctx is done; the Resolver gives ctx a deadline. A reply over UDP may be
// truncated. It must be safe for concurrent use.
type Exchanger interface {
	Exchange(ctx context.Context, msg *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error)
}

// Resolver answers names from its cache or by asking upstream servers. It is safe for concurrent use and starts no
// goroutine that outlives a call of Resolve.
type Resolver struct {
	o Options
	x Exchanger
}

// New returns a Resolver that asks through x. The options must validate after WithDefaults.
func New(o Options, x Exchanger) (*Resolver, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Resolver{o: o, x: x}, nil
}

// Resolve answers one name.
func (r *Resolver) Resolve(ctx context.Context, name string) Answer {
	return Answer{Err: ErrServer}
}

// Outage says whether no upstream has given a good answer for a while.
func (r *Resolver) Outage() bool { return false }

// Stats gives the counters.
func (r *Resolver) Stats() Stats { return Stats{} }

// SystemUpstreams gives the name servers of /etc/resolv.conf.
func SystemUpstreams() ([]netip.AddrPort, error) { return nil, ErrServer }

// NetExchanger asks over real connections made by Dial.
type NetExchanger struct {
	Dial DialFunc
}

// Exchange sends msg and gives the reply.
func (x NetExchanger) Exchange(ctx context.Context, msg *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error) {
	return nil, ErrServer
}
