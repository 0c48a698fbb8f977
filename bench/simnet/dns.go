package simnet

import (
	"context"
	"errors"
	"net/netip"

	"github.com/miekg/dns"
)

// SetDNS takes the resolver down (it does not reply) or up.
func (n *Net) SetDNS(up bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noDNS = !up
}

// SetLocal has fault asked before each connection and each question: what this machine has no means for fails there. Nil is
// a machine that has all it needs.
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

var errNoQuestion = errors.New("simnet: a message without one question")

// Exchange is the world's name server, whatever its address: A records of the world's hosts, and NXDOMAIN.
func (n *Net) Exchange(ctx context.Context, q *dns.Msg, _ netip.AddrPort, _ bool) (*dns.Msg, error) {
	if len(q.Question) != 1 {
		return nil, errNoQuestion
	}
	n.mu.Lock()
	n.stats.Questions++
	down := n.noDNS
	n.mu.Unlock()
	if err := n.localFault(); err != nil {
		return nil, err
	}
	if down {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := pause(ctx, 2*n.o.Latency); err != nil {
		return nil, err
	}
	reply := new(dns.Msg)
	reply.SetReply(q)
	reply.RecursionAvailable = true
	question := q.Question[0]
	addr := n.world.AddrOf(question.Name)
	switch {
	case !addr.IsValid():
		reply.Rcode = dns.RcodeNameError
	case question.Qtype == dns.TypeA && addr.Is4():
		reply.Answer = []dns.RR{&dns.A{A: addr.AsSlice(), Hdr: dns.RR_Header{
			Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 3600}}}
	}
	return reply, nil
}
