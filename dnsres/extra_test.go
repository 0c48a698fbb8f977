package dnsres_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

func hasEDNS(q *dns.Msg) bool { return q.IsEdns0() != nil }

func isMixed(q *dns.Msg) bool { return q.Question[0].Name != strings.ToLower(q.Question[0].Name) }

// longName is a name whose random case is not lower case, except once in 2^40 times.
func longName(i int) string {
	return fmt.Sprintf("a-name-with-many-letters-so-that-its-case-is-mixed-%d.test", i)
}

// oldServers are name servers that do not know one part of our questions.
func oldServers() map[string]dnstest.Script {
	noEDNS := func(rcode int, change func(reply *dns.Msg)) func(q, reply *dns.Msg) {
		return func(q, reply *dns.Msg) {
			if hasEDNS(q) {
				reply.Rcode, reply.Answer = rcode, nil
				change(reply)
			}
		}
	}
	keep := func(*dns.Msg) {}
	noQuestion := func(reply *dns.Msg) { reply.Question = nil }
	return map[string]dnstest.Script{
		"drops EDNS":                      {DropIf: hasEDNS},
		"FORMERR":                         {Reply: noEDNS(dns.RcodeFormatError, keep)},
		"FORMERR without the question":    {Reply: noEDNS(dns.RcodeFormatError, noQuestion)},
		"NOTIMP":                          {Reply: noEDNS(dns.RcodeNotImplemented, keep)},
		"NOTIMP without the question":     {Reply: noEDNS(dns.RcodeNotImplemented, noQuestion)},
		"SERVFAIL to EDNS":                {Reply: noEDNS(dns.RcodeServerFailure, keep)},
		"REFUSED without the question":    {Reply: noEDNS(dns.RcodeRefused, noQuestion)},
		"lower case, TCP refused":         {Lower: true, NoTCP: true},
		"drops names in random case":      {DropIf: isMixed},
		"drops EDNS, lower case, no TCP":  {DropIf: hasEDNS, Lower: true, NoTCP: true},
		"FORMERR to EDNS, drops any case": {NoEDNS: true, DropIf: isMixed},
		"FORMERR to random case": {Reply: func(q, reply *dns.Msg) {
			if isMixed(q) {
				reply.Rcode, reply.Answer, reply.Question = dns.RcodeFormatError, nil, nil
			}
		}},
	}
}

// A name server of 2005 resolves all names. What it does not know is found out once, and not for each name.
func TestOldNameServersResolveAllNames(t *testing.T) {
	for what, script := range oldServers() {
		t.Run(what, func(t *testing.T) {
			script.Addrs, script.TTL = []netip.Addr{ip1}, 60
			story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
				s.Set("*", script)
				began := time.Now()
				for i := range 50 {
					wantAddrs(t, r.Resolve(t.Context(), longName(i)), ip1)
				}
				if took, n := time.Since(began), r.Stats().Exchanges; took > 11*time.Second || n > 56 {
					t.Errorf("50 names took %v and %d exchanges", took, n)
				}
			})
		})
	}
}

// The same servers over sockets, where a reply without the question must be found among datagrams.
func TestOldNameServersOnASocket(t *testing.T) {
	for what, script := range oldServers() {
		t.Run(what, func(t *testing.T) {
			script.Addrs, script.TTL = []netip.Addr{ip1}, 60
			server := new(dnstest.Server)
			server.Set("*", script)
			r := resolverOn(t, dnsres.Options{Timeout: 300 * time.Millisecond}, listen(t, server))
			for i := range 3 {
				wantAddrs(t, r.Resolve(t.Context(), longName(i)), ip1)
			}
		})
	}
}

// All three name servers of a machine may be old.
func TestThreeOldNameServers(t *testing.T) {
	ups := []netip.AddrPort{up1, up2, netip.MustParseAddrPort("192.0.2.3:53")}
	story(t, dnsres.Options{Upstreams: ups}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, DropIf: hasEDNS})
		began := time.Now()
		for i := range 100 {
			wantAddrs(t, r.Resolve(t.Context(), longName(i)), ip1)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("100 names took %v", took)
		}
	})
}

// A server that knows all extras keeps them through lost packets and a short outage. One that was replaced by a newer
// one gets them again.
func TestAnExtraIsLeftOutNoLongerThanNeeded(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		var full bool // whether the last question had all extras
		script := dnstest.Script{Addrs: []netip.Addr{ip1}, Reply: func(q, _ *dns.Msg) { full = hasEDNS(q) && isMixed(q) }}
		s.Set("*", script)
		next := 0
		resolve := func() {
			next++
			wantAddrs(t, r.Resolve(t.Context(), longName(next)), ip1)
		}
		resolve()
		lost := script
		lost.DropIf = hasEDNS
		s.Set("*", lost)
		resolve() // one lost packet
		s.Set("*", script)
		if resolve(); !full {
			t.Error("after one lost packet the extras are gone")
		}
		s.Set("*", lost)
		for range 5 {
			resolve()
		}
		began := time.Now()
		if resolve(); time.Since(began) > 0 {
			t.Error("after three failures EDNS0 is still used")
		}
		s.Set("*", script)
		time.Sleep(time.Minute)
		if resolve(); !full {
			t.Error("after a minute the extras are not tried again")
		}
		if resolve(); !full {
			t.Error("the extras worked and are gone")
		}
	})
}

// A server that is down and comes back is asked in random case again.
func TestSilenceIsNoReasonAgainstRandomCase(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		mixed := false
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, Reply: func(q, _ *dns.Msg) { mixed = isMixed(q) }})
		s.Down(up1, true)
		for i := range 10 {
			wantErr(t, r.Resolve(t.Context(), longName(i)), dnsres.ErrTimeout)
		}
		s.Down(up1, false)
		if wantAddrs(t, r.Resolve(t.Context(), longName(11)), ip1); !mixed {
			t.Error("the question is not in random case")
		}
	})
}

// A name server that drops AAAA costs a second once. Names that have AAAA only still resolve.
func TestADroppedAAAACostsASecondOnce(t *testing.T) {
	story(t, dnsres.Options{IPv6: true}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		isSix := func(q *dns.Msg) bool { return q.Question[0].Qtype == dns.TypeAAAA }
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, DropIf: isSix})
		s.Set("gone.test", dnstest.Script{Rcode: dns.RcodeNameError, DropIf: isSix})
		s.Set("six.test", dnstest.Script{Addrs: []netip.Addr{ip6}})
		began := time.Now()
		for i := range 20 {
			wantAddrs(t, r.Resolve(t.Context(), longName(i)), ip1)
		}
		wantErr(t, r.Resolve(t.Context(), "gone.test"), dnsres.ErrNotFound)
		wantAddrs(t, r.Resolve(t.Context(), "six.test"), ip6)
		if took := time.Since(began); took > time.Second {
			t.Errorf("20 names took %v", took)
		}
		if r.Outage() || r.Stats().Timeouts != 0 {
			t.Errorf("%+v", r.Stats())
		}
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1, ip6}})
		time.Sleep(time.Minute)
		for i := range 2 {
			wantAddrs(t, r.Resolve(t.Context(), longName(100+i)), ip1, ip6)
		}
	})
}
