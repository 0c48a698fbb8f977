package dnsres_test

import (
	"net/netip"
	"testing"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

// Name servers that give every name an address are recognised by two random names. They are asked for once, and not
// before a name of the crawl has an address.
func TestCheckHijack_nameServersThatAnswerEveryName(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip2}, TTL: 60})
		s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60})
		r.CheckHijack(t.Context())
		if n := r.Stats().Exchanges; n != 0 {
			t.Errorf("%d questions before the first name", n)
		}
		wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip1)
		for range 3 {
			r.CheckHijack(t.Context())
		}
		if got, n := r.Health().Hijack, r.Stats().Exchanges; got != ip2 || n != 3 {
			t.Errorf("address %v after %d questions", got, n)
		}
	})
}

// Honest name servers say that a random name does not exist. Those that do not answer, or answer with an error, are not
// accused.
func TestCheckHijack_otherNameServers(t *testing.T) {
	for what, script := range map[string]dnstest.Script{
		"NXDOMAIN": {Rcode: 3}, "SERVFAIL": {Rcode: 2}, "no records": {}, "silent": {Drop: true},
	} {
		t.Run(what, func(t *testing.T) {
			story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
				s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60})
				s.Set("*", script)
				wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip1)
				r.CheckHijack(t.Context())
				if got := r.Health().Hijack; got.IsValid() {
					t.Errorf("address %v", got)
				}
			})
		})
	}
}
