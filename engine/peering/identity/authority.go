package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"strconv"
	"time"
)

// backdate is how far a certificate reaches into the past, for machines whose clocks are behind.
const backdate = 25 * time.Hour

// Authority signs the certificates of a crawl's agents.
type Authority struct {
	Crawl      string
	GossipKeys []GossipKey // see Identity.GossipKeys
	Leaf       *x509.Certificate

	key crypto.Signer
}

// New makes the authority of a crawl, ECDSA P-256, which is good for so long.
func New(crawl string, now time.Time, life time.Duration) (*Authority, error) {
	if err := CheckName(crawl); err != nil {
		return nil, fmt.Errorf("crawl: %w", err)
	}
	if life <= 0 {
		return nil, fmt.Errorf("a certificate that is good for %v: want more than nothing", life)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(generationOf(now, 0)),
		Subject:      pkix.Name{Organization: []string{"orbweaver"}, CommonName: crawl},
		NotBefore:    now.Add(-backdate), NotAfter: now.Add(life), KeyUsage: x509.KeyUsageCertSign,
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	leaf, err := signed(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &Authority{Crawl: crawl, GossipKeys: []GossipKey{newGossipKey(1)}, Leaf: leaf, key: key}, nil
}

// Issue makes an identity that is good for so long, or as long as its authority if that is less, and for a capacity of
// CapacityDefault. Its generation is greater than after, which is that of the certificate it replaces, or 0.
func (a *Authority) Issue(id string, now time.Time, life time.Duration, after uint64) (*Identity, error) {
	return a.IssueFor(id, CapacityDefault, now, life, after)
}

// IssueFor is Issue with the largest capacity that the agent may have.
func (a *Authority) IssueFor(
	id string, capacity int, now time.Time, life time.Duration, after uint64,
) (*Identity, error) {
	if err := CheckName(id); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if capacity < 1 || capacity > CapacityMost {
		return nil, fmt.Errorf("a capacity of %d: want 1 to %d", capacity, CapacityMost)
	}
	end := now.Add(life)
	switch {
	case life <= 0:
		return nil, fmt.Errorf("a certificate that is good for %v: want more than nothing", life)
	case !now.Before(a.Leaf.NotAfter):
		return nil, fmt.Errorf("the authority of crawl %s ended on %s: make a new one (\"orbweaver ca init\"), "+
			"and files for all agents", a.Crawl, day(a.Leaf.NotAfter))
	case end.After(a.Leaf.NotAfter):
		end = a.Leaf.NotAfter
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(generationOf(now, after)),
		Subject:      pkix.Name{Organization: []string{"orbweaver"}, CommonName: id},
		NotBefore:    now.Add(-backdate), NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, DNSNames: []string{ServerName},
	}
	template.URIs = append(template.URIs, uri(a.Crawl, id))
	if capacity != CapacityDefault { // earlier versions do not look there
		template.Subject.OrganizationalUnit = []string{capacityUnit + strconv.Itoa(capacity)}
	}
	leaf, err := signed(template, a.Leaf, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &Identity{
		ID: id, Crawl: a.Crawl, GossipKeys: a.GossipKeys, Authority: a.Leaf,
		Certificate: tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf},
	}, nil
}

// generationOf is the time in nanoseconds, or one more than the replaced generation if a clock has gone
// back.
func generationOf(now time.Time, after uint64) uint64 {
	return max(uint64(max(now.UnixNano(), 1)), after+1)
}

func signed(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(raw)
}
