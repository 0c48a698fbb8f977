package dnsres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// cannedConn returns datagrams, or one stream, for any question.
type cannedConn struct {
	net.Conn
	reads [][]byte
	reply func(q []byte) [][]byte
}

func (c *cannedConn) Read(p []byte) (int, error) {
	if len(c.reads) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, c.reads[0])
	if c.reads[0] = c.reads[0][n:]; len(c.reads[0]) == 0 || n == len(p) {
		c.reads = c.reads[1:]
	}
	return n, nil
}

func (c *cannedConn) Write(p []byte) (int, error) {
	if c.reply != nil {
		c.reads = append(c.reads, c.reply(p)...)
	}
	return len(p), nil
}

func (c *cannedConn) Close() error                { return nil }
func (c *cannedConn) SetDeadline(time.Time) error { return nil }

func canned(c cannedConn) NetExchanger {
	return NetExchanger{Dial: func(context.Context, string, string) (net.Conn, error) {
		fresh := c
		return &fresh, nil
	}}
}

func answerTo(t testing.TB, packed []byte, change func(*dns.Msg)) []byte {
	q, reply := new(dns.Msg), new(dns.Msg)
	if err := q.Unpack(packed); err != nil {
		t.Fatal(err)
	}
	reply.SetReply(q)
	reply.Answer = []dns.RR{&dns.A{A: net.IPv4(192, 0, 2, 9), Hdr: dns.RR_Header{
		Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}}}
	change(reply)
	out, err := reply.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestHostile_D07_aFloodOfForgedRepliesIsIgnored(t *testing.T) {
	x := canned(cannedConn{reply: func(q []byte) (out [][]byte) {
		for i := range 500 {
			out = append(out, []byte("rubbish"), answerTo(t, q, func(m *dns.Msg) { m.Id += uint16(1 + i) }),
				answerTo(t, q, func(m *dns.Msg) { m.Question[0].Name = "evil.test." })[:40])
			out = out[:min(len(out), 900)]
		}
		return append(out, answerTo(t, q, func(*dns.Msg) {}))
	}})
	up := netip.MustParseAddrPort("192.0.2.1:53")
	r, err := New(Options{Upstreams: []netip.AddrPort{up}}, x)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Resolve(t.Context(), "good.test"); a.Err != nil || a.Addrs[0].String() != "192.0.2.9" {
		t.Fatalf("%+v", a)
	}
}

// listenTwice listens for UDP and TCP on the same port of loopback. Another process may already use one of the two.
func listenTwice(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var err error
	for range 10 {
		var udp net.PacketConn
		if udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			break
		}
		var tcp net.Listener
		if tcp, err = net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			return udp, tcp
		}
		_ = udp.Close()
	}
	t.Fatal(err)
	return nil, nil
}

func TestExchangeOverLoopback(t *testing.T) {
	udp, tcp := listenTwice(t)
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg)
		reply.SetReply(q)
		_, overUDP := w.RemoteAddr().(*net.UDPAddr)
		big := strings.HasPrefix(strings.ToLower(q.Question[0].Name), "big")
		for i := range 200 {
			if overUDP && big {
				reply.Truncated = true
				break
			}
			if i > 2 && !big {
				break
			}
			reply.Answer = append(reply.Answer, &dns.A{A: net.IPv4(10, 0, 0, byte(i)), Hdr: dns.RR_Header{
				Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}})
		}
		_ = w.WriteMsg(reply)
	})
	done := make(chan error, 2)
	servers := []*dns.Server{{PacketConn: udp, Handler: handler}, {Listener: tcp, Handler: handler}}
	for _, s := range servers {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() { done <- s.ActivateAndServe() }()
		<-started
	}
	defer func() {
		for _, s := range servers {
			_ = s.Shutdown()
			<-done
		}
	}()
	up := udp.LocalAddr().(*net.UDPAddr).AddrPort()
	r, err := New(Options{Upstreams: []netip.AddrPort{up}}, NetExchanger{Dial: new(net.Dialer).DialContext})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"small.test": 3, "big.test": 16} {
		if a := r.Resolve(t.Context(), name); a.Err != nil || len(a.Addrs) != want {
			t.Fatalf("%s: %+v", name, a)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := r.Resolve(ctx, "late.test"); !errors.Is(a.Err, context.Canceled) {
		t.Fatalf("%+v", a)
	}
}

func TestResolvConf(t *testing.T) {
	name := filepath.Join(t.TempDir(), "resolv.conf")
	for text, want := range map[string]string{
		"# x\nsearch a\nnameserver 192.0.2.1\n nameserver\t::1 \nnameserver rubbish\nnameserver\n": "[192.0.2.1:53 [::1]:53]",
		"nameserver fe80::1%lo # a comment\noptions timeout:1\n":                                   "[[fe80::1%lo]:53]",
		"": "[127.0.0.1:53]",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := upstreamsOf(name); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	if got, err := upstreamsOf(name + ".missing"); err != nil || fmt.Sprint(got) != "[127.0.0.1:53]" {
		t.Error(got, err)
	}
	if got, err := upstreamsOf(filepath.Dir(name)); err == nil {
		t.Error("a read error is lost:", got)
	}
}

// replies are the seeds of the fuzzer: replies to the question for a.test, without id and flags.
func replies(t testing.TB) [][]byte {
	packed, err := question("a.test.", dns.TypeA, form{true, true}).Pack()
	if err != nil {
		t.Fatal(err)
	}
	head := func(name string, kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: 60}
	}
	var list [][]byte
	for _, change := range []func(*dns.Msg){
		func(*dns.Msg) {},
		func(m *dns.Msg) { m.Answer, m.Rcode = nil, dns.RcodeNameError },
		func(m *dns.Msg) { m.Answer, m.Rcode = nil, dns.RcodeServerFailure },
		func(m *dns.Msg) { m.Answer, m.Truncated = nil, true },
		func(m *dns.Msg) {
			m.Answer = []dns.RR{
				&dns.CNAME{Hdr: head("a.test.", dns.TypeCNAME), Target: "b.test."},
				&dns.A{Hdr: head("b.test.", dns.TypeA), A: net.IPv4(192, 0, 2, 1)},
			}
		},
		func(m *dns.Msg) {
			m.Answer = []dns.RR{&dns.CNAME{Hdr: head("a.test.", dns.TypeCNAME), Target: "a.test."}}
		},
		func(m *dns.Msg) {
			m.Answer = []dns.RR{&dns.AAAA{Hdr: head("a.test.", dns.TypeAAAA), AAAA: net.ParseIP("2001:db8::1")}}
			m.SetEdns0(4096, true)
		},
		func(m *dns.Msg) {
			m.Answer = nil
			m.Ns = []dns.RR{&dns.SOA{Hdr: head("test.", dns.TypeSOA), Ns: "ns.test.", Mbox: "root.test.", Minttl: 1 << 31}}
		},
		func(m *dns.Msg) {
			m.Answer = []dns.RR{
				&dns.TXT{Hdr: head("a.test.", dns.TypeTXT), Txt: []string{"\x00\n\\\"; ", strings.Repeat("x", 255)}},
				&dns.RFC3597{Hdr: head("a.test.", 65280), Rdata: "00ff"},
			}
		},
	} {
		list = append(list, answerTo(t, packed, change)[2:])
	}
	return append(
		list,
		[]byte("\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\xC0\x0C\xC0\x0C"),
		bytes.Repeat([]byte{0xC0}, 600),
		[]byte("\x81\x80"),
	)
}

// FuzzReply passes arbitrary replies through all code from the bytes to the addresses and the archived text. If honest
// is set, id and question are corrected, so that more code is reached.
func FuzzReply(f *testing.F) {
	for _, reply := range replies(f) {
		for _, honest := range []bool{true, false} {
			f.Add(reply, honest, false)
			f.Add(reply, honest, true)
		}
	}
	f.Fuzz(func(t *testing.T, rest []byte, honest, ipv6 bool) {
		reply := func(q []byte) []byte {
			out := append(bytes.Clone(q[:2]), rest...)
			if end := bytes.IndexByte(q[12:], 0) + 12 + 5; honest && len(out) >= end {
				out[2] |= 0x80
				out[4], out[5] = 0, 1
				copy(out[12:end], q[12:end])
			}
			return out
		}
		x := NetExchanger{Dial: func(_ context.Context, network, _ string) (net.Conn, error) {
			return &cannedConn{reply: func(q []byte) [][]byte {
				if network == "tcp" {
					out := reply(q[2:])
					return [][]byte{{byte(len(out) >> 8), byte(len(out))}, out}
				}
				return [][]byte{reply(q), answerTo(t, q, func(m *dns.Msg) { m.Id++ })}
			}}, nil
		}}
		r, err := New(Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:53")}, IPv6: ipv6}, x)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var h Heard
		a := r.ResolveHeard(t.Context(), "a.test", &h)
		if (a.Err == nil) != (len(a.Addrs) > 0) || len(a.Addrs) > 16 {
			t.Fatalf("%+v", a)
		}
		for _, addr := range a.Addrs {
			if !addr.IsValid() || addr.Is4In6() || addr.Zone() != "" {
				t.Fatalf("%v", addr)
			}
		}
		if life := a.Expires.Sub(start); life < 29*time.Second || life > time.Hour+time.Minute {
			t.Fatalf("lives %v", life)
		}
		if len(h.Records) > 0 && (h.Records[len(h.Records)-1] != '\n' || bytes.ContainsAny(h.Records, "\x00\r\x1b")) {
			t.Fatalf("heard %q", h.Records)
		}
		if len(h.Denials) > 0 && (h.Denials[len(h.Denials)-1] != '\n' || bytes.ContainsAny(h.Denials, "\x00\r\x1b")) {
			t.Fatalf("denied %q", h.Denials)
		}
	})
}

// Each record is one line of printable text, whatever a name server sends.
func TestHeard_recordsOfAnyTypeAreOnePrintableLine(t *testing.T) {
	head := func(kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: "a.test.", Rrtype: kind, Class: dns.ClassINET}
	}
	for _, rr := range []dns.RR{
		&dns.NULL{Hdr: head(dns.TypeNULL), Data: "a\x00\r\n\x1b[2J\xff"},
		&dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT, Class: 1232}},
		&dns.TSIG{Hdr: head(dns.TypeTSIG), Algorithm: "hmac-md5.", MAC: "00", MACSize: 1, OtherData: "\n"},
		&dns.TXT{Hdr: head(dns.TypeTXT), Txt: []string{"a\x00\nb\xff"}},
		&dns.RFC3597{Hdr: head(65_280), Rdata: "00ff"},
	} {
		text := string(textOf(rr))
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
			t.Errorf("%T: %q", rr, text)
		}
	}
}

func BenchmarkHit(b *testing.B) {
	x := canned(cannedConn{reply: func(q []byte) [][]byte { return [][]byte{answerTo(b, q, func(*dns.Msg) {})} }})
	r, err := New(Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:53")}}, x)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if a := r.Resolve(b.Context(), "a.test"); a.Err != nil {
			b.Fatal(a.Err)
		}
	}
}

func BenchmarkMiss(b *testing.B) {
	x := canned(cannedConn{reply: func(q []byte) [][]byte {
		return [][]byte{answerTo(b, q, func(m *dns.Msg) { m.Rcode = dns.RcodeNameError; m.Answer = nil })}
	}})
	r, err := New(Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:53")}, CacheMax: 10_000}, x)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if a := r.Resolve(b.Context(), fmt.Sprintf("n%d.test", i)); !a.Definite() {
			b.Fatal(a.Err)
		}
	}
}
