package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"

	"orbweaver/bench/simweb"
)

// ttl of the answers, in seconds.
const ttl = 300

// responder is the name server of a world's domain.
type responder struct {
	world   *simweb.World
	zone    string
	addr    netip.AddrPort
	udp     *dns.Server
	tcp     *dns.Server
	queries atomic.Int64
	once    sync.Once
	err     error
	wg      sync.WaitGroup
}

// startDNS listens on one loopback address over UDP and TCP.
func startDNS(ctx context.Context, w *simweb.World, address string) (*responder, error) {
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
	r := &responder{world: w, zone: dns.Fqdn(w.Config().Domain), addr: p.LocalAddr().(*net.UDPAddr).AddrPort()}
	r.udp = &dns.Server{PacketConn: p, Handler: r}
	r.tcp = &dns.Server{Listener: l, Handler: r}
	for _, s := range []*dns.Server{r.udp, r.tcp} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		r.wg.Go(func() { _ = s.ActivateAndServe() })
		<-started
	}
	return r, nil
}

// ServeDNS answers one question: the address of a host of the world, nothing for other types, and no such name.
func (r *responder) ServeDNS(out dns.ResponseWriter, q *dns.Msg) {
	r.queries.Add(1)
	m := new(dns.Msg)
	m.SetReply(q)
	m.Authoritative = true
	if len(q.Question) != 1 || q.Opcode != dns.OpcodeQuery {
		m.Rcode = dns.RcodeFormatError
		_ = out.WriteMsg(m)
		return
	}
	name := q.Question[0].Name
	lower := strings.ToLower(name)
	addr := r.world.AddrOf(strings.TrimSuffix(lower, "."))
	if !addr.IsValid() && lower != r.zone && !strings.HasSuffix(lower, "."+r.zone) {
		m.Rcode, m.Authoritative = dns.RcodeRefused, false
		_ = out.WriteMsg(m)
		return
	}
	if addr.IsValid() && q.Question[0].Qtype == dns.TypeA {
		m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: ttl},
			A: addr.AsSlice()}}
	} else {
		m.Ns = []dns.RR{&dns.SOA{Hdr: dns.RR_Header{Name: r.zone, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: ttl},
			Ns: "ns." + r.zone, Mbox: "nobody." + r.zone, Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: 60}}
		if !addr.IsValid() && lower != r.zone {
			m.Rcode = dns.RcodeNameError
		}
	}
	if o := q.IsEdns0(); o != nil {
		m.SetEdns0(1232, false)
	}
	_ = out.WriteMsg(m) // a client that has gone is none of our business
}

// shut stops both servers.
func (r *responder) shut() {
	r.once.Do(func() {
		if err := errors.Join(r.udp.Shutdown(), r.tcp.Shutdown()); err != nil {
			r.err = fmt.Errorf("load: DNS: %w", err)
		}
	})
}
