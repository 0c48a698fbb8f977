package fetch

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// issueFor makes a certificate for a server with this RSA key.
func (a *authority) issueFor(t *testing.T, key *rsa.PrivateKey, serial int64, name string) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Servers that know no more than the key exchange by RSA answer browsers, and the crawl.
func TestTLS_keyExchangeByRSA(t *testing.T) {
	ca := newAuthority(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cert := []tls.Certificate{ca.issueFor(t, key, 2, "a.example")}
	for _, suite := range []uint16{
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
	} {
		target := serveTLS(t, &tls.Config{
			Certificates: cert, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite},
		})
		o := testOptions()
		o.RootCAs, o.TLS = ca.pool(), TLSStrict
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.OK || p.Connection.TLS.Cipher != suite {
				t.Errorf("%s: %v %q", tls.CipherSuiteName(suite), p.Outcome, p.Err)
			}
		})
	}
}

// Keys of all sizes are tolerated, and a key that can be broken is a fault.
func TestTLS_keysOfAllSizes(t *testing.T) {
	ca := newAuthority(t)
	for bits, fault := range map[int]string{512: "weak-key", 1024: "", 4096: ""} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		target := serveTLS(t, &tls.Config{
			Certificates: []tls.Certificate{ca.issueFor(t, key, 2, "a.example")}, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA},
		})
		o := testOptions()
		o.RootCAs = ca.pool()
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.OK || p.Connection.TLS.Fault != fault {
				t.Errorf("%d bits: %v %q, fault %q", bits, p.Outcome, p.Err, p.Connection.TLS.Fault)
			}
		})
	}
}

// askingAgain runs s_server of OpenSSL, which asks for a new handshake before it answers.
func askingAgain(t *testing.T, cert tls.Certificate) *Target {
	t.Helper()
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is missing")
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "s_server", "-accept", "127.0.0.1:0", "-tls1_2",
		"-legacy_renegotiation", "-client_renegotiation",
		"-cert", filepath.Join(dir, "cert.pem"), "-key", filepath.Join(dir, "key.pem"))
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var addr netip.AddrPort
	for !addr.IsValid() {
		if !lines.Scan() {
			t.Fatal("openssl has ended")
		}
		if at, ok := strings.CutPrefix(lines.Text(), "ACCEPT "); ok {
			addr = netip.MustParseAddrPort(at)
		}
	}
	var driver sync.WaitGroup
	driver.Go(func() {
		for lines.Scan() {
			switch {
			case lines.Text() == "": // the end of the request
				_, _ = io.WriteString(in, "R\n")
			case strings.HasPrefix(lines.Text(), "SSL_do_handshake"):
				_, _ = io.WriteString(in, "HTTP/1.0 200 OK\nContent-Length: 10\n\nonce more\n")
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		driver.Wait()
		_ = cmd.Wait()
	})
	target := targetAt(addr)
	target.HTTPS, target.URL = true, []byte("https://a.example/")
	return target
}

// A server that asks for a new handshake behind the request, as IIS does for client certificates, answers.
func TestTLS_renegotiation(t *testing.T) {
	ca := newAuthority(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	fetchOnce(t, testOptions(), LoopbackOnly(), askingAgain(t, ca.issueFor(t, key, 2, "a.example")), func(p *Page) {
		if p.Outcome != outcome.OK || !strings.Contains(string(p.Payload()), "once more") {
			t.Errorf("%v %q %q", p.Outcome, p.Err, p.Raw)
		}
	})
}

// A certificate that the library cannot read is a fault with its reason. One with a negative serial number is read.
func TestTLS_certificatesThatCannotBeRead(t *testing.T) {
	ca := newAuthority(t)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	const serial = 0x5a5a5a5a
	good := ca.issueFor(t, key, serial, "a.example")
	for name, c := range map[string]struct{ old, new, cause string }{
		"a negative serial number": {"\x5a\x5a\x5a\x5a", "\xda\x5a\x5a\x5a", ""},
		"a broken name": {"\x82\x09a.example", "\x82\x09a.\xff\xfeample",
			"tls: certificate that cannot be read: SAN dNSName is malformed"},
	} {
		raw := bytes.Replace(good.Certificate[0], []byte(c.old), []byte(c.new), 1)
		target := serveTLS(t, &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MaxVersion: tls.VersionTLS12,
		})
		fetchOnce(t, testOptions(), LoopbackOnly(), target, func(p *Page) {
			if (p.Outcome == outcome.OK) != (c.cause == "") || p.Err != c.cause {
				t.Errorf("%s: %v %q", name, p.Outcome, p.Err)
			}
		})
	}
}
