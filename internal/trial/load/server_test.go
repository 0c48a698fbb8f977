package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverProcess); kind != "" {
		os.Exit(runServerProcess(kind))
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, c simweb.Config, o Options) (*origin.Web, *Server) {
	t.Helper()
	w, err := origin.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, s
}

// fetch gets a URL and compares it with the world.
func fetch(t *testing.T, w *origin.Web, transport *http.Transport, u string) {
	t.Helper()
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test (+x)")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Errorf("%s: %v", u, err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	want, ok := w.Payload(u, false)
	if err != nil || !ok || resp.StatusCode != 200 || !bytes.Equal(body, want) {
		t.Errorf("%s: status %d, %d bytes of %d, %v", u, resp.StatusCode, len(body), len(want), err)
	}
}

func TestProxyAndTLS(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.HTTPSShare = 20, 0.5
	w, s := start(t, c, Options{Proxy: "127.0.0.1:0"})
	proxy := &url.URL{Scheme: "http", Host: s.ProxyAddr().String()}
	roots := x509.NewCertPool()
	roots.AddCert(s.Root())
	tlsConfig := &tls.Config{RootCAs: roots}
	secure := 0
	for i := range w.Hosts() {
		fetch(t, w, &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: tlsConfig}, w.Root(i))
		if strings.HasPrefix(w.Root(i), "https:") {
			secure++
		}
	}
	if secure == 0 || secure == w.Hosts() {
		t.Errorf("%d secure hosts", secure)
	}
	if err := s.Close(); err != nil { // the last requests are counted when their connections end
		t.Error(err)
	}
	if st := s.Stats(); st.Requests != int64(w.Hosts()) || st.Bytes == 0 || st.Conns != int64(w.Hosts()+secure) {
		t.Errorf("%+v", st)
	}
}

// In direct mode names are looked up at the world's name server and each address is served.
func TestDirectWithDNS(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.IPs, c.HTTPSShare, c.AddrBase = 30, 5, 0.3, "127.9.0.1"
	c.HTTPPort, c.HTTPSPort = freePort(t), freePort(t)
	w, err := origin.New(c)
	if err != nil {
		t.Fatal(err)
	}
	log := w.NewLog()
	_, s := start(t, c, Options{Direct: true, DNS: "127.0.0.1:0", Log: log})
	dialed := make(map[netip.Addr]bool)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			name, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			ip := ask(t, s, "udp", name, dns.TypeA)
			if ip != ask(t, s, "tcp", strings.ToUpper(name), dns.TypeA) || ip != w.AddrOf(name) {
				t.Errorf("%s has address %v, and another", name, ip)
			}
			dialed[ip] = true
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
		}}
	for i := range w.Hosts() {
		fetch(t, w, transport, w.Root(i))
	}
	if len(dialed) != 5 || log.Len() != 30 {
		t.Errorf("%d addresses, %d arrivals", len(dialed), log.Len())
	}
	for a := range log.All() {
		if a.Addr != w.AddrOf(a.Host) || !a.Whole {
			t.Errorf("%+v", a)
		}
	}
}

// ask asks the name server; the zero Addr says that there was no address.
func ask(t *testing.T, s *Server, network, name string, qtype uint16) netip.Addr {
	t.Helper()
	q := new(dns.Msg)
	q.SetQuestion(dns.Fqdn(name), qtype)
	m, _, err := (&dns.Client{Net: network}).Exchange(q, s.DNSAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Answer) == 0 {
		return netip.Addr{}
	}
	addr, _ := netip.AddrFromSlice(m.Answer[0].(*dns.A).A.To4())
	return addr
}

func TestDNSAnswers(t *testing.T) {
	w, s := start(t, simweb.Plain(), Options{DNS: "127.0.0.1:0"})
	for _, test := range []struct {
		name  string
		qtype uint16
		rcode int
		n     int
	}{
		{w.Host(3), dns.TypeA, dns.RcodeSuccess, 1},
		{w.Host(3), dns.TypeAAAA, dns.RcodeSuccess, 0},
		{w.Host(3), dns.TypeMX, dns.RcodeSuccess, 0},
		{"gone-7.sim.test", dns.TypeA, dns.RcodeNameError, 0},
		{"sim.test", dns.TypeA, dns.RcodeSuccess, 0},
		{"example.org", dns.TypeA, dns.RcodeRefused, 0},
		{"notsim.test", dns.TypeA, dns.RcodeRefused, 0},
	} {
		q := new(dns.Msg)
		q.SetQuestion(dns.Fqdn(test.name), test.qtype)
		q.SetEdns0(1232, false)
		m, _, err := new(dns.Client).Exchange(q, s.DNSAddr().String())
		if err != nil || m.Rcode != test.rcode || len(m.Answer) != test.n || m.Id != q.Id {
			t.Errorf("%s %d: %v %v", test.name, test.qtype, m, err)
		}
	}
	if n := s.Stats().Queries; n != 7 {
		t.Errorf("%d questions", n)
	}
}

// freePort finds a port without a listener.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestL1_OnlyLoopback(t *testing.T) {
	w, err := origin.New(simweb.Plain())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Proxy: "0.0.0.0:0"}, {HTTP: "[::]:0"}, {TLS: "192.0.2.1:0"}, {DNS: "0.0.0.0:0"},
		{HTTP: ":0"}, {Proxy: "localhost:0"}, {Direct: true}} {
		if s, err := Start(t.Context(), w, o); err == nil {
			t.Errorf("%+v is opened", o)
			_ = s.Close()
		}
	}
}

// Closing, or the end of the context, ends connections that wait too.
func TestL2_NothingIsLeft(t *testing.T) {
	for _, how := range []string{"close", "context"} {
		w, err := origin.New(simweb.Plain())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		s, err := Start(
			ctx,
			w,
			Options{Proxy: "127.0.0.1:0", HTTP: "127.0.0.1:0", TLS: "127.0.0.1:0", DNS: "127.0.0.1:0"},
		)
		if err != nil {
			t.Fatal(err)
		}
		var conns []net.Conn
		for _, a := range []netip.AddrPort{s.ProxyAddr(), s.HTTPAddr(), s.TLSAddr()} {
			c, err := net.Dial("tcp", a.String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.WriteString(c, "GET / HT"); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
		if how == "context" {
			cancel()
			for _, c := range conns {
				if _, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("%s: %v", how, err)
				}
			}
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if n := s.Stats().Open; n != 0 {
			t.Errorf("%s: %d open", how, n)
		}
		for _, c := range conns {
			_ = c.Close()
		}
		cancel()
	}
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
}

// A reset page is a reset for the client, plain and inside TLS.
func TestResetIsReset(t *testing.T) {
	for _, share := range []float64{0, 1} {
		c := simweb.Plain()
		c.Hosts, c.HTTPSShare, c.Faults = 50, share, simweb.Faults{Failures: simweb.Failures{Reset: 1}}
		w, s := start(t, c, Options{Proxy: "127.0.0.1:0"})
		proxy := &url.URL{Scheme: "http", Host: s.ProxyAddr().String()}
		tried := 0
		for u, class := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All() {
			if class != judge.ClassAttempt {
				continue
			}
			transport := &http.Transport{
				Proxy:           http.ProxyURL(proxy),
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			}
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
			resp, err := transport.RoundTrip(req)
			if err == nil {
				resp.Body.Close()
			}
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s: %v", u, err)
			}
			if tried++; tried == 5 {
				break
			}
		}
		if tried == 0 {
			t.Error("nothing is reset")
		}
	}
}

func TestRunCommand(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		dir := t.TempDir()
		c := simweb.Plain()
		c.Hosts = 5
		ctx, cancel := context.WithCancel(t.Context())
		var out, words bytes.Buffer
		o := SimOptions{World: c, Listen: Options{HTTP: "127.0.0.1:0", Proxy: "127.0.0.1:0"}, Seeds: 3, JSON: asJSON,
			SeedsFile: filepath.Join(dir, "seeds"), LogFile: filepath.Join(dir, "log")}
		o.Ready = func(s *Server) {
			w, err := origin.New(c)
			if err != nil {
				t.Error(err)
			}
			proxy := &url.URL{Scheme: "http", Host: s.ProxyAddr().String()}
			fetch(t, w, &http.Transport{Proxy: http.ProxyURL(proxy)}, w.Root(2))
			cancel()
		}
		if err := RunCommand(ctx, o, &out, &words); err != nil {
			t.Fatal(err)
		}
		seeds, err := os.ReadFile(o.SeedsFile)
		if err != nil || bytes.Count(seeds, []byte("\n")) != 3 {
			t.Errorf("seeds: %q, %v", seeds, err)
		}
		log, err := os.ReadFile(o.LogFile)
		if err != nil || bytes.Count(log, []byte("\n")) != 1 || !json.Valid(log) {
			t.Errorf("log: %q, %v", log, err)
		}
		if asJSON {
			d := json.NewDecoder(&out)
			var a Addresses
			var sum Summary
			if err := errors.Join(d.Decode(&a), d.Decode(&sum)); err != nil {
				t.Fatal(err)
			}
			if a.Hosts != 5 || a.Proxy == "" || sum.Stats.Requests != 1 || sum.Verdict == nil ||
				sum.Verdict.Arrivals != 1 {
				t.Errorf("%+v %+v", a, sum)
			}
		} else if s := out.String(); !strings.Contains(s, "served 1 requests") || !strings.Contains(s, "proxy  http://127.") {
			t.Errorf("%s", s)
		}
	}
}

// Without an archive the verdict is about what was answered, or, of a crawl that was meant to end, about the whole
// world.
func TestRunCommandTellsCoverageWithoutArchive(t *testing.T) {
	for _, complete := range []bool{false, true} {
		c := simweb.Plain()
		c.Hosts = 5
		w, err := origin.New(c)
		if err != nil {
			t.Fatal(err)
		}
		truth := w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)})
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		o := SimOptions{World: c, Listen: Options{Proxy: "127.0.0.1:0"}, Seeds: 1, JSON: true, Complete: complete}
		o.Ready = func(s *Server) {
			transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: s.ProxyAddr().String()})}
			for i := range 5 {
				fetch(t, w, transport, w.Root(i))
			}
			fetch(t, w, transport, w.Root(0))
			cancel()
		}
		if err := RunCommand(ctx, o, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		var a Addresses
		var sum Summary
		d := json.NewDecoder(&out)
		if err := errors.Join(d.Decode(&a), d.Decode(&sum)); err != nil {
			t.Fatal(err)
		}
		want := 5
		if complete {
			want = truth.Pages()
		}
		v := sum.Verdict
		if !v.Answered || v.Partial == complete || v.Fetched != 5 || v.Expected != want || v.Missing != want-5 ||
			v.Repeated != 1 {
			t.Errorf("complete %v: %+v, want 5 of %d, one of them twice", complete, v, want)
		}
		if q := sum.Quality; q == nil || q.Documents-q.Unvisited != 5 || q.Documents+q.Requisites != truth.Pages() {
			t.Errorf("complete %v: the order of visits: %+v", complete, q)
		}
	}
}

// A refused address is an error of the command, not a half-open server.
func TestRunCommandRefuses(t *testing.T) {
	o := SimOptions{
		World:  simweb.Plain(),
		Listen: Options{HTTP: "127.0.0.1:0", Proxy: "198.51.100.1:" + strconv.Itoa(80)},
	}
	if err := RunCommand(t.Context(), o, io.Discard, io.Discard); err == nil {
		t.Error("no error")
	}
}

// A proxy that listens on two addresses is the same proxy.
func TestProxyOnTwoAddresses(t *testing.T) {
	c := simweb.Plain()
	c.Hosts = 2
	w, s := start(t, c, Options{Proxy: "127.0.0.1:0", More: []string{"127.0.0.2:0"}})
	both := append(s.MoreAddrs(), s.ProxyAddr())
	if len(both) != 2 || both[0].Addr() == both[1].Addr() {
		t.Fatal(both)
	}
	for _, addr := range both {
		proxy := &url.URL{Scheme: "http", Host: addr.String()}
		fetch(t, w, &http.Transport{Proxy: http.ProxyURL(proxy)}, w.Root(1))
	}
	if n := s.Stats().Requests; n != 2 {
		t.Errorf("%d requests", n)
	}
}
