package warctool

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// waczDigest is datapackage-digest.json.
type waczDigest struct {
	Path   string      `json:"path"`
	Hash   string      `json:"hash"`
	Signed *waczSigned `json:"signedData,omitempty"`
}

// waczSigned is a signature of wacz-auth 0.1.0: an anonymous one, or one for a domain. It has no other fields that are
// read.
type waczSigned struct {
	Hash      string `json:"hash"`
	Created   string `json:"created"`
	Software  string `json:"software"`
	Version   string `json:"version"`
	Signature string `json:"signature"`
	PublicKey string `json:"publicKey"`

	Domain            string `json:"domain,omitempty"`
	DomainCertificate string `json:"domainCert,omitempty"` // PEM: that of the domain, and those above it
}

// authVersion is the version of the specification of signatures.
const authVersion = "0.1.0"

// Errors of keys and signatures.
var (
	ErrWACZKey       = errors.New("no key of P-384 in PEM form, as openssl genpkey -algorithm EC makes it")
	errWACZSignature = errors.New("the signature is not of this digest and this key")
)

// waczTime is a time as datapackage.json has it.
func waczTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ReadWACZKey reads a private key of P-384 from PEM (PKCS #8 or SEC 1). Only this curve is read by browsers that check
// WACZ files.
func ReadWACZKey(text []byte) (*ecdsa.PrivateKey, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		key, ok := parsed.(*ecdsa.PrivateKey)
		if err != nil || !ok {
			if key, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
				continue // the parameters of the curve come first in some files
			}
		}
		if key.Curve == elliptic.P384() {
			return key, nil
		}
	}
	return nil, ErrWACZKey
}

// signWACZ signs the digest of datapackage.json. The signature is over the text of the digest, as two numbers of 48
// bytes: the form of browsers.
func signWACZ(o *WACZOptions, hash string) (*waczSigned, error) {
	sum := sha256.Sum256([]byte(hash))
	r, s, err := ecdsa.Sign(rand.Reader, o.SignKey, sum[:])
	if err != nil {
		return nil, fmt.Errorf("wacz: %w", err)
	}
	var signature [96]byte
	r.FillBytes(signature[:48])
	s.FillBytes(signature[48:])
	public, err := x509.MarshalPKIXPublicKey(&o.SignKey.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("wacz: %w", err)
	}
	return &waczSigned{
		Hash: hash, Created: waczTime(o.Now), Software: o.Software, Version: authVersion,
		Signature: base64.StdEncoding.EncodeToString(signature[:]),
		PublicKey: base64.StdEncoding.EncodeToString(public),
	}, nil
}

// check verifies an anonymous signature.
func (d *waczSigned) check(hash string) error {
	signature, err := base64.StdEncoding.DecodeString(d.Signature)
	if err != nil || len(signature) != 96 || d.Hash != hash {
		return errWACZSignature
	}
	der, err := base64.StdEncoding.DecodeString(d.PublicKey)
	if err != nil {
		return errWACZSignature
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	key, ok := parsed.(*ecdsa.PublicKey)
	if err != nil || !ok || key.Curve != elliptic.P384() {
		return errWACZSignature
	}
	sum := sha256.Sum256([]byte(hash))
	r, s := new(big.Int).SetBytes(signature[:48]), new(big.Int).SetBytes(signature[48:])
	if !ecdsa.Verify(key, sum[:], r, s) {
		return errWACZSignature
	}
	return nil
}

// Errors of signatures for a domain.
var (
	errDomainCertificate = errors.New("the certificate of the domain that signed it cannot be read")
	errDomainSignature   = errors.New("the certificate of the domain is not that of the signature")
	errDomainName        = errors.New("the certificate is one of another domain")
)

// checkDomain verifies a signature with the certificate beside it, for a domain. It trusts any certificate.
func (d *waczSigned) checkDomain(hash string) error {
	block, _ := pem.Decode([]byte(d.DomainCertificate))
	if block == nil {
		return errDomainCertificate
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("%w: %w", errDomainCertificate, err)
	}
	algorithm := x509.ECDSAWithSHA256
	if certificate.PublicKeyAlgorithm == x509.RSA {
		algorithm = x509.SHA256WithRSA
	}
	signature, err := base64.StdEncoding.DecodeString(d.Signature)
	if err != nil || d.Hash != hash || certificate.CheckSignature(algorithm, []byte(hash), signature) != nil {
		return errDomainSignature
	}
	if certificate.VerifyHostname(d.Domain) != nil {
		return errDomainName
	}
	return nil
}
