package fetch

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"time"
)

// chainBytesMax bounds the certificates of one server.
const chainBytesMax = 128 << 10

// errChain says that a server sent more certificates than are read.
var errChain = errors.New("certificate: chain too large")

// rsaBitsMin is the least size of an RSA key that can be trusted. The library takes any (see godebug in go.mod).
const rsaBitsMin = 1024

var errWeakKey = errors.New("certificate: RSA key of less than 1024 bits")

// certificateDigest returns the SHA-256 of the certificates as the server sent them, concatenated, and their size in
// bytes.
func certificateDigest(chain []*x509.Certificate) (digest [sha256.Size]byte, size int64, err error) {
	sum := sha256.New()
	for _, c := range chain {
		if size += int64(len(c.Raw)); size > chainBytesMax {
			return digest, size, errChain
		}
		sum.Write(c.Raw)
	}
	sum.Sum(digest[:0])
	return digest, size, nil
}

// verifyChain checks the certificates of cs as the TLS library does without InsecureSkipVerify. They hold until one of
// them ends.
func verifyChain(cs *tls.ConnectionState, roots *x509.CertPool, now time.Time) (until time.Time, err error) {
	if len(cs.PeerCertificates) == 0 {
		return until, x509.UnknownAuthorityError{}
	}
	if key, ok := cs.PeerCertificates[0].PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < rsaBitsMin {
		return until, errWeakKey
	}
	o := x509.VerifyOptions{Roots: roots, DNSName: cs.ServerName, CurrentTime: now}
	if len(cs.PeerCertificates) > 1 {
		o.Intermediates = x509.NewCertPool()
		for _, c := range cs.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
	}
	chains, err := cs.PeerCertificates[0].Verify(o)
	if err != nil {
		return until, err //nolint:wrapcheck // FaultOf reads it
	}
	first := slices.MinFunc(chains[0], func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	return first.NotAfter, nil
}

// certificateFault names what is wrong with a certificate, in a word for the archive.
func certificateFault(err error) string {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "expired"
	case errors.As(err, &name):
		return "wrong-name"
	case errors.As(err, &authority):
		return "unknown-authority"
	case errors.Is(err, errWeakKey):
		return "weak-key"
	default:
		return "invalid"
	}
}

// certificateName returns the host of an authority without port and brackets, as certificates have it.
func certificateName(host []byte) string {
	if colon := bytes.LastIndexByte(host, ':'); colon >= 0 && colon > bytes.LastIndexByte(host, ']') {
		host = host[:colon]
	}
	host = bytes.TrimPrefix(host, []byte{'['})
	host = bytes.TrimSuffix(host, []byte{']'})
	return string(bytes.TrimSuffix(host, []byte{'.'}))
}

// isVersionFault reports whether a handshake failed because the server supports older TLS versions only. The TLS
// library has no error value for it.
func isVersionFault(err error) bool {
	text := err.Error()
	return strings.Contains(text, "protocol version not supported") ||
		strings.Contains(text, "unsupported protocol version") ||
		strings.Contains(text, "server selected unsupported")
}

// certificateParseFault returns why the library cannot read a server's certificate, in its words, without what the
// server wrote.
func certificateParseFault(err error) (why string, ok bool) {
	const before = "failed to parse certificate from server: "
	text := err.Error()
	at := strings.Index(text, before)
	if at < 0 {
		return "", false
	}
	why = strings.TrimPrefix(text[at+len(before):], "x509: ")
	end := strings.IndexFunc(why, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune(" -'", r)
	})
	if end >= 0 {
		why = why[:end]
	}
	return strings.TrimSpace(why), true
}
