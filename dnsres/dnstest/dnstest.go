// Package dnstest is a name server for tests and simulations, with scripted answers, delays and failures. It serves
// inside the process as an Exchanger, and over sockets that the caller opens as a dns.Handler.
//
// Delays are timers, so they cost nothing in virtual time. The package knows nothing of the resolver that it serves.
//
// Ownership: a Server belongs to the test, which may set scripts while queries arrive.
package dnstest

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// Script says how one name is answered.
type Script struct {
	Addrs   []netip.Addr          // A and AAAA records, by family
	CNAME   string                // an alias in front; Addrs, if any, belong to its target
	TTL     uint32                // of all records, in seconds
	Rcode   int                   // dns.RcodeSuccess and so on
	SOA     uint32                // if not zero, a negative answer carries a SOA record with this minimum
	Zone    string                // owner of the SOA record; the name itself if empty. Such answers are authoritative
	Delay   time.Duration         // before the reply
	Drop    bool                  // no reply at all
	DropUDP bool                  // no reply over UDP
	DropIf  func(q *dns.Msg) bool // no reply to these questions, if not nil
	Refuse  bool                  // connection refused
	NoTCP   bool                  // connection refused over TCP
	Cut     bool                  // truncated over UDP
	WrongID bool                  // the reply has another id
	Lower   bool                  // the reply has the name in lower case, over UDP
	NoEDNS  bool                  // FORMERR to questions with EDNS0

	// Reply, if not nil, is called last and may change the reply. It runs without a lock.
	Reply func(q, reply *dns.Msg)
}

// Server answers by script. The zero value answers every name with NXDOMAIN.
type Server struct {
	// Lookup, if not nil, gives the script of a name that has none: in lower case, without the final dot. It is set
	// before the first query.
	Lookup func(name string) Script

	served atomic.Int64 // over sockets
	mu     sync.Mutex
	names  map[string]Script
	down   map[netip.AddrPort]bool
	asks   map[string]int // by name and type
	byUp   map[netip.AddrPort]int
	flight map[string]int
	most   int
}

// Set scripts a name; "*" is any name without a script of its own.
func (s *Server) Set(name string, script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = make(map[string]Script)
	}
	s.names[clean(name)] = script
}

// Down makes one upstream silent, or lets it speak again. The zero AddrPort stands for all of them.
func (s *Server) Down(upstream netip.AddrPort, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == nil {
		s.down = make(map[netip.AddrPort]bool)
	}
	s.down[upstream] = down
}

// Asked counts the questions for a name, of all types.
func (s *Server) Asked(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks[clean(name)]
}

// AskedOf counts the questions that an upstream got.
func (s *Server) AskedOf(upstream netip.AddrPort) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byUp[upstream]
}

// MostInFlight is the largest number of questions for one name and type that were open at once.
func (s *Server) MostInFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

var errNoQuestion = errors.New("dnstest: a message without one question")

// Exchange answers one question by its script.
func (s *Server) Exchange(ctx context.Context, q *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error) {
	if len(q.Question) != 1 {
		return nil, errNoQuestion
	}
	name := clean(q.Question[0].Name)
	key := name + " " + dns.TypeToString[q.Question[0].Qtype]
	script, silent := s.open(name, key, upstream)
	defer s.closed(key)
	if silent || script.Drop || script.DropUDP && !tcp || script.DropIf != nil && script.DropIf(q) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if script.Refuse || script.NoTCP && tcp {
		return nil, syscall.ECONNREFUSED
	}
	if script.Delay > 0 {
		t := time.NewTimer(script.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return script.reply(q, tcp), nil
}

func (s *Server) open(name, key string, upstream netip.AddrPort) (script Script, silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asks == nil {
		s.asks, s.byUp, s.flight = map[string]int{}, map[netip.AddrPort]int{}, map[string]int{}
	}
	s.asks[name]++
	s.byUp[upstream]++
	s.flight[key]++
	s.most = max(s.most, s.flight[key])
	return s.script(name), s.down[upstream] || s.down[netip.AddrPort{}]
}

// script is the script of a name. The caller holds mu.
func (s *Server) script(name string) Script {
	if script, known := s.names[name]; known {
		return script
	}
	if script, known := s.names["*"]; known {
		return script
	}
	if s.Lookup != nil {
		return s.Lookup(name)
	}
	return Script{Rcode: dns.RcodeNameError}
}

// ServeDNS implements dns.Handler, for a server over sockets. Delays and failures to reply have no effect there.
func (s *Server) ServeDNS(out dns.ResponseWriter, q *dns.Msg) {
	s.served.Add(1)
	if len(q.Question) != 1 || q.Opcode != dns.OpcodeQuery {
		_ = out.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeFormatError)) // the client may be gone
		return
	}
	s.mu.Lock()
	script := s.script(clean(q.Question[0].Name))
	s.mu.Unlock()
	reply := script.reply(q, out.LocalAddr().Network() == "tcp")
	if q.IsEdns0() != nil {
		reply.SetEdns0(1232, false)
	}
	_ = out.WriteMsg(reply) // the client may be gone
}

// Served is the number of queries over sockets.
func (s *Server) Served() int64 { return s.served.Load() }

func (s *Server) closed(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight[key]--
}

func (script Script) reply(q *dns.Msg, tcp bool) *dns.Msg {
	reply := new(dns.Msg)
	reply.SetReply(q)
	reply.Rcode, reply.Authoritative, reply.RecursionAvailable = script.Rcode, script.Zone != "", script.Zone == ""
	owner := q.Question[0].Name
	head := func(kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: owner, Rrtype: kind, Class: dns.ClassINET, Ttl: script.TTL}
	}
	if script.CNAME != "" {
		reply.Answer = append(reply.Answer, &dns.CNAME{Hdr: head(dns.TypeCNAME), Target: dns.Fqdn(script.CNAME)})
		owner = dns.Fqdn(script.CNAME)
	}
	for _, addr := range script.Addrs {
		switch kind := q.Question[0].Qtype; {
		case kind == dns.TypeA && addr.Is4():
			reply.Answer = append(reply.Answer, &dns.A{Hdr: head(kind), A: addr.AsSlice()})
		case kind == dns.TypeAAAA && !addr.Is4():
			reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: head(kind), AAAA: addr.AsSlice()})
		}
	}
	if script.SOA > 0 && (len(script.Addrs) == 0 || len(reply.Answer) == 0) {
		soa := &dns.SOA{
			Hdr: head(dns.TypeSOA), Ns: "ns.test.", Mbox: "root.test.",
			Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: script.SOA,
		}
		soa.Hdr.Ttl = script.SOA
		if script.Zone != "" {
			zone := dns.Fqdn(script.Zone)
			soa.Hdr.Name, soa.Ns, soa.Mbox = zone, "ns."+zone, "root."+zone
		}
		reply.Ns = append(reply.Ns, soa)
	}
	if script.NoEDNS && q.IsEdns0() != nil {
		reply.Rcode, reply.Answer = dns.RcodeFormatError, nil
	}
	if script.Cut && !tcp {
		reply.Truncated, reply.Answer = true, nil
	}
	if script.WrongID {
		reply.Id++
	}
	if script.Lower && !tcp {
		reply.Question[0].Name = strings.ToLower(reply.Question[0].Name)
	}
	if script.Reply != nil {
		script.Reply(q, reply)
	}
	return reply
}

func clean(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
