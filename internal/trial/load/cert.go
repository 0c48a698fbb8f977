package load

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// issuedMax bounds the certificates that are kept. When there are as many, all are forgotten and made again.
const issuedMax = 4096

// issuer shows each host a certificate of its own, as the web does: a root that a client may trust, below it an
// intermediate that is sent along, below the intermediate a leaf for each name. All keys are ECDSA on P-256; all leaves
// share one. Certificates are valid for a day.
type issuer struct {
	root   *x509.Certificate
	middle *x509.Certificate
	signer *ecdsa.PrivateKey // of middle
	leaf   *ecdsa.PrivateKey // of all leaves

	mu     sync.Mutex
	issued map[string]*tls.Certificate
}

// newIssuer makes root and intermediate.
func newIssuer(domain string) (*issuer, error) {
	i := &issuer{issued: make(map[string]*tls.Certificate)}
	var keys [3]*ecdsa.PrivateKey
	for k := range keys {
		var err error
		if keys[k], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, fmt.Errorf("load: certificate: %w", err)
		}
	}
	i.signer, i.leaf = keys[1], keys[2]
	authority := func(name string) *x509.Certificate {
		c := template(name)
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
		return c
	}
	var err error
	root := authority(domain + " root")
	if i.root, err = sign(root, root, keys[0], keys[0]); err != nil {
		return nil, err
	}
	i.middle, err = sign(authority(domain+" intermediate"), i.root, i.signer, keys[0])
	return i, err
}

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}
}

// sign makes a certificate for the key of subject out of a template, with the key of its parent.
func sign(template, parent *x509.Certificate, subject, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &subject.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("load: certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// certificate is what a client that asks for a name is shown. It has the form that tls.Config wants.
func (i *issuer) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := hello.ServerName
	i.mu.Lock()
	defer i.mu.Unlock()
	if c := i.issued[name]; c != nil {
		return c, nil
	}
	t := template(name)
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if name != "" { // an address is asked for without a name
		t.DNSNames = []string{name}
	}
	leaf, err := sign(t, i.middle, i.leaf, i.signer)
	if err != nil {
		return nil, err
	}
	if len(i.issued) >= issuedMax {
		clear(i.issued)
	}
	c := &tls.Certificate{Certificate: [][]byte{leaf.Raw, i.middle.Raw}, PrivateKey: i.leaf, Leaf: leaf}
	i.issued[name] = c
	return c, nil
}
