package fetch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newCertificate makes a certificate for a name that ends at a time, signed by parent; nil for one that signs itself.
func newCertificate(
	t *testing.T, name string, until time.Time, parent *x509.Certificate, signer *ecdsa.PrivateKey,
) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: now.Add(-time.Hour), NotAfter: until, IsCA: parent == nil, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if parent == nil {
		parent, signer = form, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

// A server shows certificates of each kind: Verify takes the good one, and FaultOf names what is wrong with the others.
func TestVerify_namesFaults(t *testing.T) {
	later := now.Add(time.Hour)
	root, key := newCertificate(t, "root", later, nil, nil)
	roots := x509.NewCertPool()
	roots.AddCert(root)
	good, _ := newCertificate(t, "a.test", later, root, key)
	old, _ := newCertificate(t, "a.test", now.Add(-time.Minute), root, key)
	other, _ := newCertificate(t, "b.test", later, root, key)
	foreign, _ := newCertificate(t, "a.test", later, nil, nil)
	for fault, chain := range map[string][]*x509.Certificate{
		"": {good}, "expired": {old}, "wrong-name": {other}, "unknown-authority": {foreign},
	} {
		until, err := verifyChain(&tls.ConnectionState{ServerName: "a.test", PeerCertificates: chain}, roots, now)
		if (err != nil) != (fault != "") || err != nil && certificateFault(err) != fault {
			t.Errorf("%q: %v", fault, err)
		}
		if err == nil && !until.Equal(good.NotAfter) {
			t.Errorf("the certificates hold until %v", until)
		}
	}
	_, err := verifyChain(&tls.ConnectionState{ServerName: "a.test"}, roots, now)
	if certificateFault(err) != "unknown-authority" {
		t.Errorf("no certificate: %v", err)
	}
	if got := certificateFault(errors.New("another")); got != "invalid" {
		t.Errorf("another error: %q", got)
	}
}

// The digest is that of the certificates one after another, and a chain beyond the limit has none.
func TestDigest(t *testing.T) {
	a, b := &x509.Certificate{Raw: []byte("one")}, &x509.Certificate{Raw: []byte("two")}
	got, size, err := certificateDigest([]*x509.Certificate{a, b})
	if err != nil || size != 6 || got != sha256.Sum256([]byte("onetwo")) {
		t.Errorf("%x, %v", got, err)
	}
	large := &x509.Certificate{Raw: make([]byte, chainBytesMax)}
	if _, _, err := certificateDigest([]*x509.Certificate{large}); err != nil {
		t.Errorf("a chain at the limit: %v", err)
	}
	_, _, err = certificateDigest(slices.Concat([]*x509.Certificate{large}, []*x509.Certificate{a}))
	if !errors.Is(err, errChain) {
		t.Errorf("a chain beyond the limit: %v", err)
	}
}
