package fetch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// authority signs certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert: cert, key: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue makes a certificate for names that ended or ends after valid.
func (a *authority) issue(t testing.TB, valid time.Duration, names ...string) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}
}

// serveTLS answers over TLS as config says.
func serveTLS(t testing.TB, config *tls.Config) *Target {
	t.Helper()
	target := targetAt(serve(t, func(conn *net.TCPConn) {
		secure := tls.Server(conn, config)
		if secure.Handshake() == nil {
			readRequest(secure)
			_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\n\r\nover "+secure.ConnectionState().NegotiatedProtocol)
			_ = secure.Close()
		}
	}))
	target.HTTPS = true
	target.URL = []byte("https://a.example/")
	return target
}

// Fetched by default with the fault recorded, refused under TLSStrict. Whether a certificate was revoked is not looked
// up: that would tell a third party what is crawled, a request for each host.
func TestHostile_N13_faultyCertificatesAreRecordedOrRefused(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	for _, c := range []struct {
		name  string
		cert  tls.Certificate
		fault string
	}{
		{"good", ca.issue(t, time.Hour, "a.example"), ""},
		{"wildcard", ca.issue(t, time.Hour, "*.example"), ""},
		{"expired", ca.issue(t, -time.Hour, "a.example"), "expired"},
		{"wrong name", ca.issue(t, time.Hour, "b.example"), "wrong-name"},
		{"self-signed", tls.Certificate{Certificate: [][]byte{other.cert.Raw}, PrivateKey: other.key}, "unknown-authority"},
		{"unknown authority", other.issue(t, time.Hour, "a.example"), "unknown-authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := serveTLS(t,
				&tls.Config{Certificates: []tls.Certificate{c.cert}, NextProtos: []string{"h2", "http/1.1"}})
			o := testOptions()
			o.RootCAs = ca.pool()
			fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
				if p.Outcome != outcome.OK || string(p.Payload()) != "over http/1.1" || !p.Connection.Secure {
					t.Fatalf("%v %s %q", p.Outcome, p.Err, p.Raw)
				}
				// A self-signed certificate without the name fails in two ways; either may be told.
				if p.Connection.TLS.Fault != c.fault && (c.name != "self-signed" || p.Connection.TLS.Fault == "") {
					t.Errorf("fault %q", p.Connection.TLS.Fault)
				}
				if p.Connection.TLS.Version != tls.VersionTLS13 || p.Connection.TLS.Cipher == 0 ||
					p.Connection.TLS.Chain != sha256.Sum256(c.cert.Certificate[0]) {
					t.Errorf("%+v", p.Connection.TLS)
				}
			})
			o.TLS = TLSStrict
			fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
				want := outcome.OK
				if c.fault != "" {
					want = outcome.TLSFault
				}
				if p.Outcome != want {
					t.Errorf("strict: %v %s", p.Outcome, p.Err)
				}
			})
		})
	}
}

// A password for a host whose site was not named goes to a server with a valid certificate alone.
func TestTLS_aTrustedPasswordNeedsAValidCertificate(t *testing.T) {
	ca := newAuthority(t)
	for _, valid := range []time.Duration{time.Hour, -time.Hour} {
		cert := ca.issue(t, valid, "a.example")
		target := targetAt(serve(t, func(conn *net.TCPConn) {
			secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}})
			if secure.Handshake() == nil {
				has := "without"
				if strings.Contains(readRequest(secure), "Authorization: Basic x") {
					has = "with"
				}
				_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\n\r\n"+has)
			}
		}))
		target.URL, target.Host, target.HTTPS = []byte("https://a.example/"), []byte("a.example"), true
		target.Authorization = []byte("Authorization: Basic x\r\n")
		o := testOptions()
		o.RootCAs = ca.pool()
		for _, trustedOnly := range []bool{false, true} {
			target.TrustedOnly = trustedOnly
			want := "with"
			if trustedOnly && valid < 0 {
				want = "without"
			}
			fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
				if string(p.Payload()) != want {
					t.Errorf("valid for %v, trusted only %v: %s %q, want %q", valid, trustedOnly, p.Err, p.Payload(), want)
				}
			})
		}
	}
}

// A read that timed out at the end of a rate window is not the end of a TLS connection.
func TestTLSSlowBody(t *testing.T) {
	ca := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Hour, "a.example")}}
	target := targetAt(serve(t, func(conn *net.TCPConn) {
		secure := tls.Server(conn, config)
		if secure.Handshake() == nil {
			readRequest(secure)
			_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
			time.Sleep(150 * time.Millisecond)
			_, _ = io.WriteString(secure, "world")
		}
	}))
	target.HTTPS = true
	o := testOptions()
	o.RateMin, o.RateWindow, o.HeaderTimeout = -1, 20*time.Millisecond, 60*time.Millisecond
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.OK || string(p.Payload()) != "helloworld" {
			t.Errorf("%v %s %q", p.Outcome, p.Err, p.Payload())
		}
	})
}

// What is too old to be worth anything is refused, and there is no option to have it.
func TestHostile_N15_oldTLSIsRefusedByName(t *testing.T) {
	ca := newAuthority(t)
	cert := []tls.Certificate{ca.issue(t, time.Hour, "a.example")}
	for name, c := range map[string]struct {
		config *tls.Config
		cause  string
	}{
		"TLS 1.0": {&tls.Config{Certificates: cert, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10},
			"tls: old version"},
		"TLS 1.1": {&tls.Config{Certificates: cert, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
			"tls: old version"},
		"RC4": {&tls.Config{Certificates: cert, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_RC4_128_SHA}}, "tls: refused by the server"},
		"bare RSA": {&tls.Config{Certificates: cert, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA}}, "tls: refused by the server"},
	} {
		fetchOnce(t, testOptions(), LoopbackOnly(), serveTLS(t, c.config), func(p *Page) {
			if p.Outcome != outcome.TLSFault || p.Err != c.cause {
				t.Errorf("%s: %v %q", name, p.Outcome, p.Err)
			}
		})
	}
	// A server that answers in an old version whatever it is asked.
	target := targetAt(serve(t, func(conn *net.TCPConn) {
		hello := append([]byte{2, 0, 0, 38, 3, 1}, make([]byte, 32)...) // ServerHello of TLS 1.0
		hello = append(hello, 0, 0, 0x2f, 0)                            // without a session, AES128-SHA
		_, _ = conn.Write(append([]byte{22, 3, 1, 0, byte(len(hello))}, hello...))
		_, _ = io.Copy(io.Discard, conn)
	}))
	target.HTTPS = true
	fetchOnce(t, testOptions(), LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.TLSFault || p.Err != "tls: old version" {
			t.Errorf("an old version, whatever is asked: %v %q", p.Outcome, p.Err)
		}
	})
}

// A chain up to the bound is fetched, one above it is not, and of one that is much too long not all is read.
func TestHostile_N15_aHugeChainIsRefusedByName(t *testing.T) {
	ca := newAuthority(t)
	for _, c := range []struct {
		bytes int
		cause string
	}{{chainBytesMax - 4096, ""}, {chainBytesMax, "tls: certificate chain too large"},
		{1 << 20, "tls: message too large"}} {
		cert := ca.issue(t, time.Hour, "a.example", strings.Repeat("x", 63)+".example")
		for size := 0; size <= c.bytes; size += len(ca.cert.Raw) {
			cert.Certificate = append(cert.Certificate, ca.cert.Raw)
		}
		target := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}})
		fetchOnce(t, testOptions(), LoopbackOnly(), target, func(p *Page) {
			if p.Err != c.cause || (p.Outcome == outcome.OK) != (c.cause == "") ||
				c.cause != "" && p.Outcome != outcome.TLSFault {
				t.Errorf("%d bytes: %v %q", c.bytes, p.Outcome, p.Err)
			}
		})
	}
}

// A thousand names cost less than a tenth of a second.
func TestHostile_N15_aThousandNamesAreNoTrouble(t *testing.T) {
	ca := newAuthority(t)
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("n%d.example", i)
	}
	target := serveTLS(t,
		&tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Hour, append(many, "a.example")...)}})
	o := testOptions()
	o.RootCAs = ca.pool()
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.OK || p.Connection.TLS.Fault != "" {
			t.Errorf("%v %s %+v", p.Outcome, p.Err, p.Connection.TLS)
		}
	})
}

func TestN16_PlaintextOn443(t *testing.T) {
	target := targetAt(serve(t, func(conn *net.TCPConn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}))
	target.HTTPS = true
	fetchOnce(t, testOptions(), LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.TLSFault || p.Err != "tls: not TLS" {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}

func TestN16_ForeignALPN(t *testing.T) {
	ca := newAuthority(t)
	target := serveTLS(t,
		&tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Hour, "a.example")}, NextProtos: []string{"imap"}})
	fetchOnce(t, testOptions(), LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.TLSFault || p.Err != CauseNoProtocol {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}

// toldDialer dials loopback and notes what its connections are told.
type toldDialer struct{ noDelay bool }

type toldConn struct {
	net.Conn
	dialer *toldDialer
}

func (d *toldDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := LoopbackOnly().DialContext(ctx, network, addr)
	return &toldConn{Conn: conn, dialer: d}, err
}

func (c *toldConn) SetNoDelay(noDelay bool) error {
	c.dialer.noDelay = noDelay
	return nil
}

// A request over TLS must not wait until the server has acknowledged the end of the handshake.
func TestTLSIsNotDelayed(t *testing.T) {
	target := serveTLS(t,
		&tls.Config{Certificates: []tls.Certificate{newAuthority(t).issue(t, time.Hour, "a.example")}})
	var d toldDialer
	fetchOnce(t, testOptions(), &d, target, func(p *Page) {
		if p.Outcome != outcome.OK || !d.noDelay {
			t.Errorf("%v %s; the connection was told not to delay: %v", p.Outcome, p.Err, d.noDelay)
		}
	})
}

// What a server would rather have is not asked of us: the exchange of keys is a cheap one, and a server that knows only
// another classic curve is reached all the same.
func TestKeysAreExchangedCheaply(t *testing.T) {
	ca := newAuthority(t)
	for _, c := range []struct {
		knows []tls.CurveID
		used  tls.CurveID
	}{
		{nil, tls.X25519},
		{[]tls.CurveID{tls.CurveP384}, tls.CurveP384},
	} {
		agreed := make(chan tls.CurveID, 1)
		target := serveTLS(t, &tls.Config{
			Certificates: []tls.Certificate{ca.issue(t, time.Hour, "a.example")}, CurvePreferences: c.knows,
			VerifyConnection: func(cs tls.ConnectionState) error {
				agreed <- cs.CurveID
				return nil
			},
		})
		o := testOptions()
		o.RootCAs = ca.pool()
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if got := <-agreed; p.Outcome != outcome.OK || got != c.used {
				t.Errorf("%v by %v, want %v", p.Outcome, got, c.used)
			}
		})
	}
}
