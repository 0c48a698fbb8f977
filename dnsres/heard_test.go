package dnsres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"testing/synctest"

	"github.com/miekg/dns"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

// exchangeFunc is a simulated name server.
type exchangeFunc func(ctx context.Context, q *dns.Msg) (*dns.Msg, error)

// Exchange implements dnsres.Exchanger.
func (f exchangeFunc) Exchange(ctx context.Context, q *dns.Msg, _ netip.AddrPort, _ bool) (*dns.Msg, error) {
	return f(ctx, q)
}

// An answer with thousands of addresses put a million bytes into the archive for each of 12 aliases, and the lines of
// both families were compared pairwise.
func TestWhatIsKeptOfAnswersIsBounded(t *testing.T) {
	server := exchangeFunc(func(_ context.Context, q *dns.Msg) (*dns.Msg, error) {
		reply := new(dns.Msg)
		reply.SetReply(q)
		hdr := dns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: dns.ClassINET, Ttl: 60}
		for i := range 4000 {
			if hdr.Rrtype == dns.TypeA {
				reply.Answer = append(reply.Answer, &dns.A{Hdr: hdr, A: []byte{198, 51, byte(i >> 8), byte(i)}})
			} else {
				reply.Answer = append(
					reply.Answer, &dns.AAAA{Hdr: hdr, AAAA: netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i)).AsSlice()},
				)
			}
		}
		return reply, nil
	})
	r, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{up1}, IPv6: true}, server)
	if err != nil {
		t.Fatal(err)
	}
	var h dnsres.Heard
	answer := r.ResolveHeard(t.Context(), "www.a.test", &h)
	if answer.Err != nil || len(answer.Addrs) != 16 {
		t.Errorf("%d addresses: %v", len(answer.Addrs), answer.Err)
	}
	if lines := bytes.Count(h.Records, []byte("\n")); len(h.Records) > 64<<10 || lines+h.Omitted != 8000 ||
		!bytes.HasSuffix(h.Records, []byte("\n")) {
		t.Errorf("%d bytes in %d lines are kept, %d lines are left out, of 8000", len(h.Records), lines, h.Omitted)
	}
}

// Twelve aliases, each answered just before the time-out, held a lookup for a minute. A server that answers only the
// third question held it for 15 s per alias.
func TestSlowAliasesHoldALookupForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hop := 0
		server := exchangeFunc(func(ctx context.Context, q *dns.Msg) (*dns.Msg, error) {
			hop++
			select {
			case <-time.After(4900 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			reply := new(dns.Msg)
			reply.SetReply(q)
			reply.Answer = []dns.RR{&dns.CNAME{
				Hdr: dns.RR_Header{
					Name:   q.Question[0].Name,
					Rrtype: dns.TypeCNAME,
					Class:  dns.ClassINET,
					Ttl:    60,
				}, Target: fmt.Sprintf("a%d.test.", hop),
			}}
			return reply, nil
		})
		r, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{up1}}, server)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		answer := r.Resolve(t.Context(), "www.a.test")
		if took := time.Since(began); !errors.Is(answer.Err, dnsres.ErrTimeout) || took > 30*time.Second {
			t.Errorf("%v after %v and %d questions", answer.Err, took, hop)
		}
	})
}

// A caller that asks gets the replies, with names in lower case. A caller that is answered from the cache gets none.
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

// Negative replies are in Heard too: the status of each question, and the SOA record of the zone.
func TestWhatServersDenyIsHeard(t *testing.T) {
	story(t, dnsres.Options{IPv6: true}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("www.a.test", dnstest.Script{CNAME: "gone.test", TTL: 60})
		s.Set("gone.test", dnstest.Script{Rcode: dns.RcodeNameError, SOA: 60})
		var h dnsres.Heard
		if a := r.ResolveHeard(t.Context(), "WWW.a.test", &h); !errors.Is(a.Err, dnsres.ErrNotFound) {
			t.Fatalf("%+v", a)
		}
		if string(h.Records) != "www.a.test.\t60\tIN\tCNAME\tgone.test.\n" || h.Server != up1 {
			t.Errorf("heard of %v:\n%s", h.Server, h.Records)
		}
		denials := string(h.Denials)
		if !strings.Contains(denials, "\tIN\tSOA\t") || !strings.HasPrefix(denials, "; gone.test. A: NXDOMAIN\n") ||
			!strings.Contains(denials, "; gone.test. AAAA: NXDOMAIN\n") {
			t.Errorf("denied:\n%s", denials)
		}
		for line := range strings.Lines(denials) {
			if !strings.HasPrefix(line, "; ") {
				if rr, err := dns.NewRR(line); err != nil || rr.Header().Rrtype != dns.TypeSOA {
					t.Errorf("%q is no SOA record: %v", line, err)
				}
			}
		}
	})
}

// The reply of a failing server is in Heard with its status. A server without a reply is not.
func TestWhatFailingServersSayIsHeard(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("ill.test", dnstest.Script{Rcode: dns.RcodeServerFailure})
		var h dnsres.Heard
		if a := r.ResolveHeard(t.Context(), "ill.test", &h); !errors.Is(a.Err, dnsres.ErrServer) ||
			string(h.Denials) != "; ill.test. A: SERVFAIL\n" ||
			!h.Server.IsValid() {
			t.Errorf("%v: of %v %q", a.Err, h.Server, h.Denials)
		}
		s.Set("mute.test", dnstest.Script{Drop: true})
		h = dnsres.Heard{}
		if a := r.ResolveHeard(t.Context(), "mute.test", &h); !errors.Is(a.Err, dnsres.ErrTimeout) ||
			len(h.Records)+len(h.Denials) > 0 {
			t.Errorf("%v: of %v %q", a.Err, h.Server, h.Denials)
		}
	})
}
