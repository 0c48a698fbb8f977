package dnsres_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

// Each of many names that do not exist costs its question and no more. The server replies after 50 ms, and 256
// goroutines ask, as in the engine. BenchmarkNames measures the cost on real sockets.
func TestHostile_D01_aStormOfDeadNamesIsAnsweredFiveThousandASecond(t *testing.T) {
	const dead, askers = 30_000, 256
	story(t, dnsres.Options{CacheMax: 10_000}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("*", dnstest.Script{Rcode: dns.RcodeNameError, SOA: 300, Delay: 50 * time.Millisecond})
		start := time.Now()
		var next atomic.Int64
		var all sync.WaitGroup
		for range askers {
			all.Go(func() {
				for {
					i := next.Add(1)
					if i > dead {
						return
					}
					if a := r.Resolve(t.Context(), fmt.Sprintf("n%d.test", i)); !a.Definite() {
						t.Errorf("n%d: %v", i, a.Err)
						return
					}
				}
			})
		}
		all.Wait()
		took := time.Since(start)
		t.Logf("%.0f a second", dead/took.Seconds())
		if st := r.Stats(); dead/took.Seconds() < 5000 || st.NotFound != dead || st.Exchanges != dead ||
			st.Cached > 10_000 {
			t.Errorf("%d dead names took %v: %+v", dead, took, st)
		}
		if r.Outage() {
			t.Error("a name that does not exist is taken for an outage")
		}
	})
}

func TestHostile_D03_anOutageOnASocket(t *testing.T) {
	script := new(dnstest.Server)
	script.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60})
	r := resolverOn(
		t,
		dnsres.Options{Timeout: 20 * time.Millisecond, OutageAfter: 100 * time.Millisecond, OutageRow: 5},
		listen(t, script),
	)
	script.Down(netip.AddrPort{}, true)
	for i := 0; !r.Outage(); i++ {
		if a := r.Resolve(t.Context(), fmt.Sprintf("n%d.test", i)); a.Err == nil || a.Definite() || i > 1000 {
			t.Fatalf("%d names, %+v", i, a)
		}
	}
	script.Down(netip.AddrPort{}, false)
	for i := 0; r.Outage(); i++ { // a reply may be late on a busy machine
		if r.Resolve(t.Context(), fmt.Sprintf("m%d.test", i)); i > 1000 {
			t.Fatal("the outage does not end")
		}
	}
}

func TestHostile_D04_aliasesAreFollowedTwelveTimesAndNotInCircles(t *testing.T) {
	both(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		for i := range 50 {
			s.Set(fmt.Sprintf("c%d.test", i), dnstest.Script{CNAME: fmt.Sprintf("c%d.test", i+1), TTL: 600})
		}
		s.Set("c12.test", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 40})
		s.Set("loop.test", dnstest.Script{CNAME: "loop.test"})
		s.Set("ring1.test", dnstest.Script{CNAME: "ring2.test"})
		s.Set("ring2.test", dnstest.Script{CNAME: "ring1.test"})
		s.Set("whole.test", dnstest.Script{CNAME: "other.test", Addrs: []netip.Addr{ip2}})
		s.Set("dead.test", dnstest.Script{CNAME: "gone.test", Rcode: dns.RcodeNameError})
		s.Set("heap.test", dnstest.Script{Reply: func(q, reply *dns.Msg) { // the whole alias chain in one reply
			for i := range 50 {
				reply.Answer = append(reply.Answer, &dns.CNAME{Target: fmt.Sprintf("h%d.test.", i+1),
					Hdr: dns.RR_Header{
						Name:   fmt.Sprintf("h%d.test.", i),
						Rrtype: dns.TypeCNAME,
						Class:  dns.ClassINET,
						Ttl:    60,
					}})
			}
			reply.Answer[0].Header().Name = q.Question[0].Name
		}})
		start := time.Now()
		a := r.Resolve(t.Context(), "c0.test")
		wantAddrs(t, a, ip1)
		if life := a.Expires.Sub(start).Round(time.Second); life != 40*time.Second {
			t.Fatalf("lives %v", life)
		}
		for _, bad := range []string{"c13.test", "loop.test", "ring1.test", "heap.test"} {
			before := r.Stats()
			wantErr(t, r.Resolve(t.Context(), bad), dnsres.ErrServer)
			after := r.Stats() // a question whose reply is late, on a busy machine, is sent again
			if n := after.Exchanges - before.Exchanges; n > 13+after.Timeouts-before.Timeouts {
				t.Errorf("%s: %d questions", bad, n)
			}
		}
		wantErr(t, r.Resolve(t.Context(), "dead.test"), dnsres.ErrNotFound)
		wantAddrs(t, r.Resolve(t.Context(), "whole.test"), ip2)
		if s.Asked("other.test") != 0 || s.Asked("c26.test") > 0 {
			t.Fatal("asked for more than needed")
		}
	})
}

func TestHostile_D05_lifetimesAreClampedAsConfigured(t *testing.T) {
	usual := dnsres.Options{}
	short := dnsres.Options{TTLMin: 2 * time.Second, TTLMax: 10 * time.Second, NegativeTTL: 5 * time.Second}
	for _, c := range []struct {
		o              dnsres.Options
		ttl            uint32
		want, negative time.Duration
	}{
		{usual, 0, 30 * time.Second, 10 * time.Minute}, {usual, 100, 100 * time.Second, 100 * time.Second},
		{usual, 1<<31 - 1, time.Hour, 10 * time.Minute}, {usual, 1 << 31, 30 * time.Second, 30 * time.Second},
		{usual, ^uint32(0), 30 * time.Second, 30 * time.Second},
		{short, 0, 2 * time.Second, 5 * time.Second}, {short, 4, 4 * time.Second, 4 * time.Second},
		{short, 1<<31 - 1, 10 * time.Second, 5 * time.Second}, {short, ^uint32(0), 2 * time.Second, 2 * time.Second},
	} {
		both(t, c.o, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: c.ttl})
			s.Set("none.test", dnstest.Script{SOA: c.ttl})
			if life := time.Until(r.Resolve(t.Context(), "a.test").Expires); life > c.want ||
				life < c.want-time.Second {
				t.Errorf("TTL %d lives %v, want %v", c.ttl, life, c.want)
			}
			if life := time.Until(r.Resolve(t.Context(), "none.test").Expires); life > c.negative ||
				life < c.negative-time.Second {
				t.Errorf("a negative answer of TTL %d lives %v, want %v", c.ttl, life, c.negative)
			}
		})
	}
}

func TestHostile_D06_whatIsCutIsAskedForOverTCPAndThenGivenUp(t *testing.T) {
	both(t, dnsres.Options{Tries: 1}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		addrs := []netip.Addr{ip1}
		s.Set("cut.test", dnstest.Script{Addrs: addrs, Cut: true})
		s.Set("notcp.test", dnstest.Script{Addrs: addrs, Cut: true, NoTCP: true})
		wantAddrs(t, r.Resolve(t.Context(), "cut.test"), ip1)
		wantErr(t, r.Resolve(t.Context(), "notcp.test"), dnsres.ErrServer)
		if st := r.Stats(); st.TCP != 2 || st.Exchanges != 4 {
			t.Errorf("%+v", st)
		}
	})
}

func TestHostile_D07_foreignRepliesAreIgnored(t *testing.T) {
	script := new(dnstest.Server)
	script.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60})
	s := listen(t, script)
	evil := func(q *dns.Msg, change func(*dns.Msg)) *dns.Msg {
		m := new(dns.Msg)
		m.SetReply(q)
		m.Answer = []dns.RR{
			&dns.A{
				A:   ip2.AsSlice(),
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60},
			},
		}
		change(m)
		return m
	}
	s.say(func(w dns.ResponseWriter, q *dns.Msg) {
		for i := range 100 {
			_ = w.WriteMsg(evil(q, func(m *dns.Msg) { m.Id += uint16(i + 1) }))
		}
		_ = w.WriteMsg(evil(q, func(m *dns.Msg) { m.Question[0].Name = "other.test." }))
		_ = w.WriteMsg(evil(q, func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA }))
		_ = w.WriteMsg(evil(q, func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }))
		_ = w.WriteMsg(evil(q, func(m *dns.Msg) { m.Question = nil }))
		_ = w.WriteMsg(evil(q, func(m *dns.Msg) { m.Response = false }))
		_, _ = w.Write([]byte("rubbish"))
	})
	r := resolverOn(t, dnsres.Options{Timeout: 5 * time.Second}, s)
	for i := range 20 {
		wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("a%d.test", i)), ip1)
	}
	// If a forged reply is right except for the case of the letters, the question is repeated over TCP, which cannot be
	// forged.
	s.say(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(evil(q, func(m *dns.Msg) {
			m.Question[0].Name = strings.ToUpper(m.Question[0].Name)
		}))
	})
	for i := range 20 {
		wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("long-enough-to-have-two-cases%d.test", i)), ip1)
	}
}

// A forger must guess the id, the port, and the case of each letter. None follows from earlier ones.
func TestHostile_D07_idPortAndCaseAreRandom(t *testing.T) {
	script := new(dnstest.Server)
	script.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60})
	s := listen(t, script)
	r := resolverOn(t, dnsres.Options{Timeout: 5 * time.Second}, s)
	const n = 400
	for i := range n {
		wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("abcdefghijklmnopqrstuvwxyz%d.test", i)), ip1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	distinct := func(all []uint16) int {
		sorted := slices.Clone(all)
		slices.Sort(sorted)
		return len(slices.Compact(sorted))
	}
	steady := func(all []uint16) (most int) { // number of equal steps from one value to the next
		steps := map[uint16]int{}
		for i := 1; i < len(all); i++ {
			steps[all[i]-all[i-1]]++
			most = max(most, steps[all[i]-all[i-1]])
		}
		return most
	}
	if len(s.ids) != n || distinct(s.ids) < n*95/100 || distinct(s.ports) < n*9/10 {
		t.Errorf("%d questions, %d ids, %d ports", len(s.ids), distinct(s.ids), distinct(s.ports))
	}
	if ids, ports := steady(s.ids), steady(s.ports); ids > n/20 || ports > n/10 {
		t.Errorf("the same step %d times from id to id, %d times from port to port", ids, ports)
	}
	upper := [26]int{}
	for _, name := range s.names {
		for i := range upper {
			if name[i] < 'a' {
				upper[i]++
			}
		}
	}
	for i, k := range upper {
		if k < n/4 || k > n*3/4 {
			t.Errorf("letter %d is a capital %d times of %d", i, k, n)
		}
	}
}

// Both families are asked at the same time, and the answer is complete when the later reply arrives.
func TestBothFamiliesAreAskedAtOnce(t *testing.T) {
	story(
		t,
		dnsres.Options{IPv6: true, Timeout: 5 * time.Second},
		func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("both.test", dnstest.Script{Addrs: []netip.Addr{ip6, ip1}, Delay: 50 * time.Millisecond})
			start := time.Now()
			wantAddrs(t, r.Resolve(t.Context(), "both.test"), ip1, ip6)
			if took := time.Since(start); took < 50*time.Millisecond || took > 95*time.Millisecond {
				t.Errorf("the two families were not asked at once: %v", took)
			}
		},
	)
}

func TestHostile_D08_listsOfAddressesAreBoundedAndAnyFamilyDoes(t *testing.T) {
	many := []netip.Addr{ip6, netip.MustParseAddr("::ffff:198.51.100.2")}
	for i := range 200 {
		many = append(many, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	both(
		t,
		dnsres.Options{IPv6: true, Timeout: 5 * time.Second},
		func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("both.test", dnstest.Script{Addrs: []netip.Addr{ip6, ip1}, Delay: 50 * time.Millisecond})
			s.Set("six.test", dnstest.Script{Addrs: []netip.Addr{ip6}})
			s.Set("mapped.test", dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr("::ffff:198.51.100.2")}})
			s.Set("same.test", dnstest.Script{Addrs: []netip.Addr{ip2, netip.MustParseAddr("::ffff:198.51.100.2")}})
			s.Set("many.test", dnstest.Script{Addrs: many})
			wantAddrs(t, r.Resolve(t.Context(), "both.test"), ip1, ip6)
			wantAddrs(t, r.Resolve(t.Context(), "six.test"), ip6)
			wantAddrs(t, r.Resolve(t.Context(), "mapped.test"), ip2)
			wantAddrs(t, r.Resolve(t.Context(), "same.test"), ip2)
			a := r.Resolve(t.Context(), "many.test")
			seen := map[netip.Addr]bool{}
			for _, addr := range a.Addrs {
				seen[addr] = true
			}
			if len(a.Addrs) != 16 || len(seen) != 16 || !seen[ip6] || !seen[ip2] {
				t.Fatalf("%v", a.Addrs)
			}
		},
	)
}

// Which names are resolved: all possible host names, even unusual ones. Impossible and forbidden names are not asked
// for.
func TestHostile_D09_namesThatCannotBeAreNotAskedFor(t *testing.T) {
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, label[:61]}, ".")
	both(
		t,
		dnsres.Options{IPv6: true, Timeout: 5 * time.Second},
		func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}})
			for _, good := range []string{
				"a", "a.test.", "under_score.test", "-a-.test", "a.-", "xn--bcher-kva.test", "xn--a.test", "1.in-addr.arpa",
				"a.arpa", "1.test", "1.2.3.a1", label + ".test", long,
			} {
				wantAddrs(t, r.Resolve(t.Context(), good), ip1)
			}
			asked := r.Stats().Exchanges
			for _, bad := range []string{
				"", ".", "..", "a..test", ".test", "a.test..", label + "a.test", long + "a", long + ".b", "a b", "a/b",
				"bücher.test", "1.2.3", "a.1", "1.2.3.4.5", "\x00", "a\x00.test", "[::1", "fe80::1%eth0", "a:80", "*.test",
				"a\\.test", "a\n.test",
			} {
				wantErr(t, r.Resolve(t.Context(), bad), dnsres.ErrName)
			}
			wantAddrs(t, r.Resolve(t.Context(), "192.0.2.7"), netip.MustParseAddr("192.0.2.7"))
			wantAddrs(t, r.Resolve(t.Context(), "[2001:db8::1]"), ip6)
			wantAddrs(t, r.Resolve(t.Context(), "::ffff:192.0.2.7"), netip.MustParseAddr("192.0.2.7"))
			for _, here := range []string{"localhost", "LOCALHOST.", "www.localhost"} { // the guard refuses these
				wantAddrs(t, r.Resolve(t.Context(), here), netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback())
			}
			for _, nowhere := range []string{"a.onion", "onion", "a.invalid", "a.b.invalid."} {
				wantErr(t, r.Resolve(t.Context(), nowhere), dnsres.ErrNotFound)
			}
			if r.Stats().Exchanges != asked {
				t.Fatal("a question was sent for a name that must not be asked for")
			}
		},
	)
}

// A zone in which every name exists costs one question per name and a bounded cache. The number of its hosts that are
// crawled is limited elsewhere.
func TestHostile_D10_aZoneOfEveryNameCostsABoundedCache(t *testing.T) {
	story(t, dnsres.Options{CacheMax: 1000}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 86400})
		for i := range 20_000 {
			wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("x%d.wild.test", i)), ip1)
		}
		if st := r.Stats(); st.Cached > 1000 || st.Exchanges != 20_000 {
			t.Errorf("%+v", st)
		}
	})
}

// Answers are returned unchanged: the address guard decides at connect time which addresses may be contacted.
func TestHostile_D12_addressesOfNobodyAreHandedOnToTheGuard(t *testing.T) {
	both(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		for i, a := range []string{"0.0.0.0", "127.0.0.1", "255.255.255.255", "169.254.169.254"} {
			name := fmt.Sprintf("n%d.test", i)
			s.Set(name, dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr(a)}})
			wantAddrs(t, r.Resolve(t.Context(), name), netip.MustParseAddr(a))
		}
	})
}
