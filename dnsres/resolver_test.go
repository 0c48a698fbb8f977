package dnsres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	up1 = netip.MustParseAddrPort("192.0.2.1:53")
	up2 = netip.MustParseAddrPort("192.0.2.2:53")
	ip1 = netip.MustParseAddr("198.51.100.1")
	ip2 = netip.MustParseAddr("198.51.100.2")
	ip6 = netip.MustParseAddr("2001:db8::1")
)

// story runs a test in virtual time with a resolver on a scripted server.
func story(t *testing.T, o dnsres.Options, tell func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := new(dnstest.Server)
		if o.Upstreams == nil {
			o.Upstreams = []netip.AddrPort{up1}
		}
		r, err := dnsres.New(o, s)
		if err != nil {
			t.Fatal(err)
		}
		tell(t, r, s)
	})
}

func wantAddrs(t *testing.T, a dnsres.Answer, want ...netip.Addr) {
	t.Helper()
	if a.Err != nil || fmt.Sprint(a.Addrs) != fmt.Sprint(want) {
		t.Fatalf("got %v, %v; want %v", a.Addrs, a.Err, want)
	}
}

func wantErr(t *testing.T, a dnsres.Answer, want error) {
	t.Helper()
	if !errors.Is(a.Err, want) || len(a.Addrs) != 0 {
		t.Fatalf("got %v, %v; want %v", a.Addrs, a.Err, want)
	}
}

func TestD1_OneQuestionPerName(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: 60, Delay: time.Second})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { wantAddrs(t, r.Resolve(t.Context(), "A.test."), ip1) })
		}
		wg.Wait()
		if s.Asked("a.test") != 1 || s.MostInFlight() != 1 {
			t.Fatalf("asked %d times, %d at once", s.Asked("a.test"), s.MostInFlight())
		}
		if st := r.Stats(); st.Joined != 99 || st.Lookups != 100 || st.Found != 1 {
			t.Fatalf("%+v", st)
		}
	})
}

func TestD1_NoAnswerOutlivesItsTTL(t *testing.T) {
	for _, c := range []struct {
		ttl  uint32
		want time.Duration
	}{
		{0, 30 * time.Second}, {100, 100 * time.Second}, {1 << 30, time.Hour}, {1 << 31, 30 * time.Second},
		{^uint32(0), 30 * time.Second},
	} {
		story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}, TTL: c.ttl})
			start := time.Now()
			a := r.Resolve(t.Context(), "a.test")
			if life := a.Expires.Sub(start); life != c.want {
				t.Fatalf("TTL %d lives %v, want %v", c.ttl, life, c.want)
			}
			s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip2}, TTL: c.ttl})
			time.Sleep(c.want - time.Nanosecond)
			wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip1)
			time.Sleep(time.Nanosecond)
			wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip2)
		})
	}
}

// Both parts of D1 hold under random traffic: callers whose contexts end, names that change, servers that fail. An
// answer must be what the server returned less than a TTL ago.
func TestD1_RandomTraffic(t *testing.T) {
	story(
		t,
		dnsres.Options{
			CacheMax: 256,
			TTLMin:   time.Second,
			TTLMax:   5 * time.Second,
			FaultMin: time.Second,
			FaultMax: 4 * time.Second,
		},
		func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			start := time.Now()
			second := func() byte { return byte(time.Since(start) / time.Second) }
			s.Set("*", dnstest.Script{TTL: 5, Delay: 300 * time.Millisecond, Reply: func(q, reply *dns.Msg) {
				if second()%16 == 7 {
					reply.Rcode = dns.RcodeServerFailure
					return
				}
				reply.Answer = append(reply.Answer, &dns.A{A: []byte{10, 0, 0, second()}, Hdr: dns.RR_Header{
					Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 5}})
			}})
			var wg sync.WaitGroup
			for worker := range uint64(20) {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(worker, 9))
					for range 300 {
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(2000))*time.Millisecond)
						a := r.Resolve(ctx, fmt.Sprintf("n%d.test", rnd.IntN(400)))
						cancel()
						switch {
						case a.Err == nil:
							if age := second() - a.Addrs[0].As4()[3]; age > 5 {
								t.Errorf("an answer %d s old", age)
							}
						case !errors.Is(a.Err, dnsres.ErrServer) && !errors.Is(a.Err, context.DeadlineExceeded):
							t.Errorf("unexpected %v", a.Err)
						}
						time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond)
					}
				})
			}
			wg.Wait()
			if s.MostInFlight() != 1 {
				t.Errorf("%d questions for one name at once", s.MostInFlight())
			}
			if st := r.Stats(); st.Cached > 256 || st.Evicted == 0 || st.Hits == 0 || st.Joined == 0 {
				t.Errorf("%+v", st)
			}
		},
	)
}

func TestLeaderGivesUpAnotherTakesOver(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}, Delay: 3 * time.Second})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() { wantErr(t, r.Resolve(impatient, "a.test"), context.DeadlineExceeded) })
		synctest.Wait()
		wg.Go(func() { wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip1) })
		wg.Wait()
		if s.Asked("a.test") != 2 || s.MostInFlight() != 1 {
			t.Fatalf("asked %d times, %d at once", s.Asked("a.test"), s.MostInFlight())
		}
	})
}

func TestNegativeAnswers(t *testing.T) {
	for _, c := range []struct {
		script dnstest.Script
		want   time.Duration
	}{
		{dnstest.Script{Rcode: dns.RcodeNameError}, 10 * time.Minute},
		{dnstest.Script{Rcode: dns.RcodeNameError, SOA: 90}, 90 * time.Second},
		{dnstest.Script{SOA: 1}, 30 * time.Second},
		{dnstest.Script{SOA: 86400}, 10 * time.Minute},
		{dnstest.Script{Addrs: []netip.Addr{ip6}}, 10 * time.Minute},
	} {
		story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("a.test", c.script)
			start := time.Now()
			a := r.Resolve(t.Context(), "a.test")
			wantErr(t, a, dnsres.ErrNotFound)
			if !a.Definite() || a.Expires.Sub(start) != c.want {
				t.Fatalf("%+v lives %v, want %v", c.script, a.Expires.Sub(start), c.want)
			}
			wantErr(t, r.Resolve(t.Context(), "a.test"), dnsres.ErrNotFound)
			if s.Asked("a.test") != 1 {
				t.Fatal("not cached")
			}
		})
	}
}

func TestHostile_D02_faultsAreBelievedForAMinuteThenTwiceAsLongUpToAQuarterOfAnHour(t *testing.T) {
	for script, want := range map[*dnstest.Script]error{
		{Rcode: dns.RcodeServerFailure}: dnsres.ErrServer, {Rcode: dns.RcodeRefused}: dnsres.ErrServer,
		{Refuse: true}: dnsres.ErrServer,
		{Drop: true}:   dnsres.ErrTimeout, {CNAME: "a.test"}: dnsres.ErrServer, {WrongID: true}: dnsres.ErrServer,
	} {
		story(t, dnsres.Options{OutageRow: 1000}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("a.test", *script)
			for _, minutes := range []int{1, 2, 4, 8, 15, 15} {
				a := r.Resolve(t.Context(), "a.test")
				wantErr(t, a, want)
				if life := time.Until(a.Expires); life != time.Duration(minutes)*time.Minute || a.Definite() {
					t.Fatalf("%+v lives %v, want %v min", script, life, minutes)
				}
				asked := s.Asked("a.test")
				wantErr(t, r.Resolve(t.Context(), "a.test"), want)
				if s.Asked("a.test") != asked {
					t.Fatal("a fault was not cached")
				}
				time.Sleep(time.Until(a.Expires))
			}
			s.Set("a.test", dnstest.Script{Addrs: []netip.Addr{ip1}})
			wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip1)
			s.Set("a.test", *script)
			time.Sleep(time.Hour)
			if a := r.Resolve(t.Context(), "a.test"); time.Until(a.Expires) != time.Minute {
				t.Fatalf("after a good answer a fault lives %v", time.Until(a.Expires))
			}
		})
	}
}

func TestFallBacks(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		addrs := []netip.Addr{ip1}
		s.Set("cut.test", dnstest.Script{Addrs: addrs, Cut: true})
		s.Set("lower.test", dnstest.Script{Addrs: addrs, Lower: true})
		s.Set("old.test", dnstest.Script{Addrs: addrs, NoEDNS: true})
		s.Set("notcp.test", dnstest.Script{Addrs: addrs, Cut: true, NoTCP: true})
		s.Set("forged.test", dnstest.Script{Addrs: addrs, WrongID: true})
		s.Set("refused.test", dnstest.Script{Refuse: true})
		s.Set("silent.test", dnstest.Script{Drop: true})
		for _, good := range []string{"cut.test", "lower.test", "old.test"} {
			wantAddrs(t, r.Resolve(t.Context(), good), ip1)
		}
		for _, bad := range []string{"notcp.test", "forged.test", "refused.test"} {
			wantErr(t, r.Resolve(t.Context(), bad), dnsres.ErrServer)
		}
		start := time.Now()
		wantErr(t, r.Resolve(t.Context(), "silent.test"), dnsres.ErrTimeout)
		if time.Since(start) != 15*time.Second {
			t.Fatalf("three tries took %v", time.Since(start))
		}
		if st := r.Stats(); st.Timeouts != 3 || st.Mismatches != 4 || st.TCP != 5 {
			t.Fatalf("%+v", st)
		}
	})
}

func TestASilentUpstreamIsTriedLast(t *testing.T) {
	story(
		t,
		dnsres.Options{Upstreams: []netip.AddrPort{up1, up2}},
		func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
			s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}})
			for i := range 20 {
				wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("a%d.test", i)), ip1)
			}
			if s.AskedOf(up1) != 10 || s.AskedOf(up2) != 10 {
				t.Fatalf("asked %d and %d times", s.AskedOf(up1), s.AskedOf(up2))
			}
			s.Down(up1, true)
			start := time.Now()
			for i := range 1000 {
				wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("b%d.test", i)), ip1)
				time.Sleep(10 * time.Millisecond)
			}
			if waited := time.Since(start) - 10*time.Second; waited > 30*time.Second || r.Outage() {
				t.Fatalf("waited %v for one silent server; outage %v", waited, r.Outage())
			}
		},
	)
}

func TestHostile_D03_anOutageIsToldFromFaultsOfNamesAndEndsByItself(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("*", dnstest.Script{Addrs: []netip.Addr{ip1}})
		wantAddrs(t, r.Resolve(t.Context(), "a.test"), ip1)
		s.Down(netip.AddrPort{}, true)
		start := time.Now()
		for i := 0; time.Since(start) < 10*time.Minute; i++ {
			a := r.Resolve(t.Context(), fmt.Sprintf("b%d.test", i%4))
			wantErr(t, a, dnsres.ErrTimeout)
			if life := time.Until(a.Expires); time.Since(start) > 2*time.Minute &&
				(!r.Outage() || life > 10*time.Second) {
				t.Fatalf("after %v: outage %v, believed for %v", time.Since(start), r.Outage(), life)
			}
			time.Sleep(time.Second)
		}
		s.Down(netip.AddrPort{}, false)
		time.Sleep(time.Minute)
		for i := range 4 {
			wantAddrs(t, r.Resolve(t.Context(), fmt.Sprintf("b%d.test", i)), ip1)
		}
		if r.Outage() {
			t.Fatal("the outage does not end")
		}
	})
}

// Names whose own servers are broken are no outage, however many come in a row: a control question is answered.
func TestHostile_D03_aRowOfBrokenNamesIsNoOutage(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		s.Set("*", dnstest.Script{Rcode: dns.RcodeServerFailure})
		s.Set("good.test", dnstest.Script{Addrs: []netip.Addr{ip1}})
		wantAddrs(t, r.Resolve(t.Context(), "good.test"), ip1)
		control := 0
		s.Set("*", dnstest.Script{Reply: func(q, reply *dns.Msg) {
			reply.Rcode = dns.RcodeServerFailure
			if strings.HasSuffix(strings.ToLower(q.Question[0].Name), ".good.test.") {
				reply.Rcode = dns.RcodeNameError
				control++
			}
		}})
		start := time.Now()
		for i := 0; time.Since(start) < 10*time.Minute; i++ {
			wantErr(t, r.Resolve(t.Context(), fmt.Sprintf("n%d.lame%d.test", i, i%100)), dnsres.ErrServer)
			if h := r.Health(); h.Down || !h.HasAnswered {
				t.Fatalf("after %v and %d names: %+v", time.Since(start), i, h)
			}
			time.Sleep(time.Second)
		}
		if control == 0 || control > 61 {
			t.Errorf("%d control questions in ten minutes", control)
		}
	})
}

// Without any usable reply the health names the servers, and the time since which they fail.
func TestHealth_saysSinceWhenServersFail(t *testing.T) {
	story(t, dnsres.Options{}, func(t *testing.T, r *dnsres.Resolver, s *dnstest.Server) {
		if h := r.Health(); !h.FailingSince.IsZero() || h.Down || h.HasAnswered || len(h.Servers) != 1 {
			t.Errorf("at the start: %+v", h)
		}
		s.Down(netip.AddrPort{}, true)
		began := time.Now()
		for i := range 4 {
			wantErr(t, r.Resolve(t.Context(), fmt.Sprintf("n%d.test", i)), dnsres.ErrTimeout)
			time.Sleep(time.Minute)
		}
		h := r.Health()
		if since := h.FailingSince.Sub(began); since < time.Second || since > 10*time.Second || !h.Down {
			t.Errorf("failing %v after the first question: %+v", since, h)
		}
	})
}

func TestOptions(t *testing.T) {
	_, err := dnsres.New(dnsres.Options{TTLMin: 2 * time.Hour, Tries: 99}, new(dnstest.Server))
	if !errors.Is(err, dnsres.ErrOptions) || strings.Count(err.Error(), "dnsres: bad options") < 4 {
		t.Fatalf("not all faults are reported: %v", err)
	}
}

func TestHashed(t *testing.T) {
	h := dnsres.Hashed{N: 1000}
	lowest, end := netip.MustParseAddr("240.0.0.0"), netip.MustParseAddr("240.0.3.232")
	seen := map[netip.Addr]bool{}
	for i := range 20_000 {
		a := h.Resolve(t.Context(), fmt.Sprintf("host%d.test", i))
		if a.Err != nil || a.Addrs[0].Less(lowest) || !a.Addrs[0].Less(end) {
			t.Fatalf("%v", a)
		}
		seen[a.Addrs[0]] = true
	}
	if len(seen) != 1000 {
		t.Fatalf("%d addresses of 1000", len(seen))
	}
	wantAddrs(t, h.Resolve(t.Context(), "192.0.2.7"), netip.MustParseAddr("192.0.2.7"))
	if a := (dnsres.Hashed{}).Resolve(t.Context(), "x.test"); a.Addrs[0].As4()[0] < 240 {
		t.Fatalf("%v", a)
	}
}
