package dnsres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// cannedConn gives datagrams, or one stream, whatever is asked.
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

func TestSpoofFloodIsIgnored(t *testing.T) {
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

// listenTwice listens for UDP and TCP at the same port of loopback, which somebody else may have of one of them.
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
	got, err := readResolvConf(strings.NewReader("# x\nsearch a b\nnameserver 192.0.2.1\n nameserver\t::1 \nnameserver rubbish\nnameserver\n"))
	if err != nil || fmt.Sprint(got) != "[192.0.2.1:53 [::1]:53]" {
		t.Fatal(got, err)
	}
	if got, err = readResolvConf(strings.NewReader("")); err != nil || fmt.Sprint(got) != "[127.0.0.1:53]" {
		t.Fatal(got, err)
	}
	if _, err := readResolvConf(io.MultiReader(strings.NewReader("x"), errReader{})); err == nil {
		t.Fatal("a read error is lost")
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("disk") }

// FuzzReply feeds arbitrary replies, with the id and question put right so that they get far, through the whole path.
func FuzzReply(f *testing.F) {
	q := question("a.test.", dns.TypeA, true)
	packed, err := q.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answerTo(f, packed, func(*dns.Msg) {})[12:], true)
	f.Add(answerTo(f, packed, func(m *dns.Msg) { m.Answer = nil; m.Rcode = dns.RcodeNameError })[12:], false)
	f.Add([]byte("\xC0\x0C\xC0\x0C"), false)
	f.Add(bytes.Repeat([]byte{0xC0}, 600), true)
	f.Fuzz(func(t *testing.T, rest []byte, header bool) {
		reply := func(q []byte) []byte {
			out := bytes.Clone(q[:min(12, len(q))])
			out[2] |= 0x80
			if header {
				out[7] = 1 // one answer
				out[11] = 0
			}
			return append(out, rest...)
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
		r, err := New(Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:53")}}, x)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		a := r.Resolve(t.Context(), "a.test")
		if (a.Err == nil) != (len(a.Addrs) > 0) || len(a.Addrs) > 16 {
			t.Fatalf("%+v", a)
		}
		if life := a.Expires.Sub(start); life < 29*time.Second || life > time.Hour+time.Minute {
			t.Fatalf("lives %v", life)
		}
	})
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
