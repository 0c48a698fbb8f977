package dnsres_test

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

// Whoever asks is told what the servers said, in the case that everybody writes names in; who finds the answer in the cache is not.
func TestWhatServersSayIsHeardOnce(t *testing.T) {
	story(t, dnsres.Options{IPv6: true}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("www.a.test", dnstest.Script{CNAME: "a.test", TTL: 60})
		s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1, ip6}, TTL: 60})
		asked := time.Now()
		var h dnsres.Heard
		wantAddrs(t, r.ResolveHeard(t.Context(), "WWW.a.test", &h), ip1, ip6)
		want := "www.a.test.\t60\tIN\tCNAME\ta.test.\na.test.\t60\tIN\tA\t198.51.100.1\na.test.\t60\tIN\tAAAA\t2001:db8::1\n"
		if string(h.Records) != want || h.Server != up1 || !h.At.Equal(asked) {
			t.Errorf("heard of %v at %v:\n%s", h.Server, h.At, h.Records)
		}
		h = dnsres.Heard{}
		wantAddrs(t, r.ResolveHeard(t.Context(), "www.a.test", &h), ip1, ip6)
		if len(h.Records) != 0 {
			t.Errorf("heard again: %s", h.Records)
		}
	})
}
