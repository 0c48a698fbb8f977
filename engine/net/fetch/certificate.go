package fetch

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
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

// certificateDigest returns the SHA-256 of the certificates as the server sent them, concatenated.
func certificateDigest(chain []*x509.Certificate) (digest [sha256.Size]byte, err error) {
	size, sum := 0, sha256.New()
	for _, c := range chain {
		if size += len(c.Raw); size > chainBytesMax {
			return digest, errChain
		}
		sum.Write(c.Raw)
	}
	sum.Sum(digest[:0])
	return digest, nil
}

// verifyChain checks the certificates of cs as the TLS library does without InsecureSkipVerify.
func verifyChain(cs *tls.ConnectionState, roots *x509.CertPool, now time.Time) error {
	if len(cs.PeerCertificates) == 0 {
		return x509.UnknownAuthorityError{}
	}
	if key, ok := cs.PeerCertificates[0].PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < rsaBitsMin {
		return errWeakKey
	}
	o := x509.VerifyOptions{Roots: roots, DNSName: cs.ServerName, CurrentTime: now}
	if len(cs.PeerCertificates) > 1 {
		o.Intermediates = x509.NewCertPool()
		for _, c := range cs.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
	}
	_, err := cs.PeerCertificates[0].Verify(o)
	return err //nolint:wrapcheck // FaultOf reads it
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
