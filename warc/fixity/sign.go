package fixity

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/internal/vfs"
)

// SignatureName is the file with the ed25519 signature of the manifest: 64 bytes, as openssl pkeyutl writes it.
const SignatureName = ManifestName + ".sig"

// Errors of keys and signatures.
var (
	ErrKey       = errors.New("no ed25519 key in PEM form, as openssl genpkey -algorithm ed25519 makes it")
	ErrSignature = errors.New("the signature is not of this manifest and this key")
)

// ReadPrivateKey reads a private key from PEM (PKCS #8).
func ReadPrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, ErrKey
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if signer, ok := key.(ed25519.PrivateKey); err == nil && ok {
		return signer, nil
	}
	return nil, ErrKey
}

// ReadPublicKey reads a public key from PEM.
func ReadPublicKey(text []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, ErrKey
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if public, ok := key.(ed25519.PublicKey); err == nil && ok {
		return public, nil
	}
	return nil, ErrKey
}

// Sign writes the signature of the manifest in dir beside it. The signature says that the holder of the key has seen
// these lines: names, lengths, digests and numbers of records. Manifest removes it when the lines change.
func Sign(fsys vfs.FS, dir string, key ed25519.PrivateKey) error {
	text, err := vfs.ReadFile(fsys, path.Join(dir, ManifestName))
	if err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	err = vfs.WriteAtomic(fsys, path.Join(dir, SignatureName), func(w io.Writer) error {
		_, err := w.Write(ed25519.Sign(key, text))
		return err
	})
	if err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	return nil
}

// CheckSignature compares the signature beside a manifest with its text.
func CheckSignature(fsys vfs.FS, manifest string, key ed25519.PublicKey) error {
	text, err := vfs.ReadFile(fsys, manifest)
	if err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	signature, err := vfs.ReadFile(fsys, manifest+".sig")
	if err != nil {
		return fmt.Errorf("warc: signature of the manifest: %w", err)
	}
	if !ed25519.Verify(key, text, signature) {
		return fmt.Errorf("%s: %w", manifest, ErrSignature)
	}
	return nil
}
