package identity

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Types of PEM blocks. The last is our own: its bytes are a gossip key, and its header Crawl names the crawl. There are
// two of them while the gossip key is changed: the first is encrypted with, and both are accepted. Earlier versions
// refuse a file with two.
const (
	blockCertificate = "CERTIFICATE"
	blockKey         = "PRIVATE KEY"
	blockCrawl       = "ORBWEAVER CRAWL"

	headerCrawl = "Crawl"
	headerKey   = "Key" // number of a gossip key; without it 1
)

// FileMax is the longest file that is read, in bytes.
const FileMax = 64 << 10

// ErrFile is wrapped by every fault of a file.
var ErrFile = errors.New("no file of an agent")

// Files are the two files of an authority: its certificate, which is public, and its key with the gossip key, which are
// secret.
func (a *Authority) Files() (certificate, secret []byte, err error) {
	key, err := keyBlock(a.key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(certificateBlock(a.Leaf)), append(key, gossipBlocks(a.Crawl, a.GossipKeys)...), nil
}

// ParseAuthority reads the files of an authority. All their faults are told.
func ParseAuthority(certificate, secret []byte) (*Authority, error) {
	c, s := scan(certificate), scan(secret)
	c.want(1, 0, false)
	s.want(0, 1, true)
	if err := errors.Join(named("its certificate", c.fault()), named("its key", s.fault())); err != nil {
		return nil, err
	}
	a := &Authority{Crawl: s.crawl, GossipKeys: s.gossip, Leaf: c.certificates[0], key: s.key}
	var faults []error
	if !a.Leaf.IsCA || a.Leaf.Subject.CommonName != a.Crawl {
		faults = append(faults,
			fmt.Errorf("the certificate is not that of the authority of crawl %s, whose key this is", a.Crawl))
	}
	if !fits(a.key, a.Leaf) {
		faults = append(faults, errors.New("key and certificate of the authority do not belong together"))
	}
	return a, errors.Join(faults...)
}

// File is the file of an agent, a secret: certificate, key, the authority's certificate, and the gossip key.
func (id *Identity) File() ([]byte, error) {
	signer, ok := id.Certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign", id.Certificate.PrivateKey)
	}
	key, err := keyBlock(signer)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(pem.EncodeToMemory(certificateBlock(id.Certificate.Leaf)))
	b.Write(key)
	b.Write(pem.EncodeToMemory(certificateBlock(id.Authority)))
	b.Write(gossipBlocks(id.Crawl, id.GossipKeys))
	return b.Bytes(), nil
}

// Parse reads the file of an agent. All its faults are told, each wraps ErrFile, and an end that is past is one of
// them.
func Parse(file []byte, now time.Time) (*Identity, error) {
	s := scan(file)
	s.want(2, 1, true)
	if err := s.fault(); err != nil {
		return nil, err
	}
	// The authority is the one that is an authority; the order is not part of the form.
	leaf, authority := s.certificates[0], s.certificates[1]
	if leaf.IsCA {
		leaf, authority = authority, leaf
	}
	crawl, name, err := Of(leaf)
	var faults []error
	add := func(err error) { faults = append(faults, fmt.Errorf("%w: %w", ErrFile, err)) }
	switch {
	case err != nil:
		add(err)
	case crawl != s.crawl:
		add(fmt.Errorf("the certificate is for crawl %s, the gossip key for crawl %s: parts of two files", crawl, s.crawl))
	}
	if !fits(s.key, leaf) {
		add(errors.New("key and certificate do not belong together"))
	}
	for _, err := range validity(leaf, authority, name, now) {
		add(err)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return &Identity{
		ID: name, Crawl: crawl, GossipKeys: s.gossip, Authority: authority,
		Certificate: tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: s.key, Leaf: leaf},
	}, nil
}

// GenerationIn is that of the agent's certificate in a file, whatever else is wrong with it; 0 if there is none.
func GenerationIn(file []byte) uint64 {
	for _, c := range scan(file).certificates {
		if _, _, err := Of(c); err == nil {
			return Generation(c)
		}
	}
	return 0
}

// validity finds what is wrong between an agent's certificate, its authority and the time.
func validity(leaf, authority *x509.Certificate, name string, now time.Time) (faults []error) {
	if !authority.IsCA || leaf.CheckSignatureFrom(authority) != nil {
		faults = append(faults, errors.New("the certificate was not signed by the authority whose certificate is beside it"))
	}
	switch {
	case now.After(authority.NotAfter):
		faults = append(faults, fmt.Errorf("the certificate ended on %s: %s", day(authority.NotAfter), newAuthority))
	case now.After(leaf.NotAfter):
		faults = append(faults, fmt.Errorf("the certificate ended on %s: "+newAgent, day(leaf.NotAfter), name))
	case now.Before(leaf.NotBefore), now.Before(authority.NotBefore):
		faults = append(faults, fmt.Errorf("the certificate begins on %s: is the clock of this machine right? It says %s",
			day(leaf.NotBefore), day(now)))
	}
	return faults
}

// scanned is what the blocks of a file hold.
type scanned struct {
	certificates []*x509.Certificate
	key          crypto.Signer
	keys         int
	crawl        string
	gossip       []GossipKey
	faults       []error
}

func scan(file []byte) (s scanned) {
	if len(file) > FileMax {
		s.add("it has %d bytes: want at most %d", len(file), FileMax)
		return s
	}
	for {
		block, rest := pem.Decode(file)
		if block == nil {
			if len(bytes.TrimSpace(rest)) > 0 {
				s.add("%d bytes at its end are no PEM", len(rest))
			}
			return s
		}
		s.take(block)
		file = rest
	}
}

func (s *scanned) take(block *pem.Block) {
	switch block.Type {
	case blockCertificate:
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			s.add("a certificate cannot be read: %w", err)
			return
		}
		s.certificates = append(s.certificates, c)
	case blockKey:
		s.keys++
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			s.add("the key cannot be read: %w", err)
			return
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			s.add("a key of type %T cannot sign", key)
			return
		}
		s.key = signer
	case blockCrawl:
		s.takeGossipKey(block)
	default:
		s.add("a block of type %q does not belong there", block.Type)
	}
}

// takeGossipKey reads a gossip key and the name of its crawl.
func (s *scanned) takeGossipKey(block *pem.Block) {
	crawl, number := block.Headers[headerCrawl], uint64(1)
	if err := CheckName(crawl); err != nil {
		s.add("crawl: %w", err)
	}
	if len(s.gossip) > 0 && crawl != s.crawl {
		s.add("its gossip keys are for the crawls %s and %s: parts of two files", s.crawl, crawl)
	}
	if text, ok := block.Headers[headerKey]; ok {
		var err error
		if number, err = strconv.ParseUint(text, 10, 32); err != nil || number == 0 {
			s.add("the gossip key has the number %.20q", text)
		}
	}
	if len(block.Bytes) != GossipKeySize {
		s.add("the gossip key has %d bytes: want %d", len(block.Bytes), GossipKeySize)
	}
	if len(s.gossip) > 0 && s.gossip[0].Number == number {
		s.add("two gossip keys have the number %d", number)
	}
	s.crawl = crawl
	s.gossip = append(s.gossip, GossipKey{number, block.Bytes})
}

// want finds blocks that are missing or too many. One that cannot be read is neither.
func (s *scanned) want(certificates, keys int, gossip bool) {
	if len(s.faults) > 0 {
		return
	}
	count := func(what string, have, want int) {
		if have != want {
			s.add("%d blocks %s: want %d", have, what, want)
		}
	}
	count(blockCertificate, len(s.certificates), certificates)
	count(blockKey, s.keys, keys)
	if n := len(s.gossip); gossip && (n < 1 || n > gossipKeysMost) || !gossip && n > 0 {
		s.add("%d blocks %s: want 1, or 2 while the gossip key is changed, in the files of an agent or of ca.key alone",
			n, blockCrawl)
	}
}

func (s *scanned) add(format string, args ...any) {
	s.faults = append(s.faults, fmt.Errorf("%w: "+format, append([]any{ErrFile}, args...)...))
}

func (s *scanned) fault() error { return errors.Join(s.faults...) }

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// fits reports whether the certificate is for the key.
func fits(key crypto.Signer, c *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(x crypto.PublicKey) bool })
	return ok && public.Equal(c.PublicKey)
}

func certificateBlock(c *x509.Certificate) *pem.Block {
	return &pem.Block{Type: blockCertificate, Bytes: c.Raw}
}

func keyBlock(key crypto.Signer) ([]byte, error) {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: raw}), nil
}

// gossipBlocks has no header with the number of a first key, so that files are as they were before keys could be
// changed.
func gossipBlocks(crawl string, keys []GossipKey) (b []byte) {
	for _, key := range keys {
		headers := map[string]string{headerCrawl: crawl}
		if key.Number > 1 {
			headers[headerKey] = strconv.FormatUint(key.Number, 10)
		}
		b = append(b, pem.EncodeToMemory(&pem.Block{Type: blockCrawl, Headers: headers, Bytes: key.Key})...)
	}
	return b
}

// GossipKey is a key that gossip between agents is encrypted with. The number of a key is one more than that of the key
// it replaces.
type GossipKey struct {
	Number uint64
	Key    []byte // GossipKeySize bytes
}

// gossipKeysMost is how many gossip keys a file has at most: the one in use, and the one before or after it.
const gossipKeysMost = 2

// Faults of a change of the gossip key that is not at this step.
var (
	ErrGossipKeyAdded = errors.New(
		"a new gossip key was added before and is not used yet, or the old one was not removed")
	ErrGossipKeyNone   = errors.New("no new gossip key was added")
	ErrGossipKeyUnused = errors.New("the new gossip key was added and is not used yet")
)

func newGossipKey(number uint64) GossipKey {
	key := make([]byte, GossipKeySize)
	_, _ = rand.Read(key) // it cannot fail
	return GossipKey{number, key}
}

// AddGossipKey adds a new key, which agents accept and do not encrypt with.
func (a *Authority) AddGossipKey() error {
	if len(a.GossipKeys) >= gossipKeysMost {
		return ErrGossipKeyAdded
	}
	a.GossipKeys = append(slices.Clone(a.GossipKeys), newGossipKey(a.GossipKeys[0].Number+1))
	return nil
}

// UseGossipKey makes the newer key the one that agents encrypt with. A second call does nothing.
func (a *Authority) UseGossipKey() error {
	if len(a.GossipKeys) < gossipKeysMost {
		return ErrGossipKeyNone
	}
	keys := slices.Clone(a.GossipKeys)
	slices.SortFunc(keys, func(a, b GossipKey) int {
		if a.Number > b.Number {
			return -1
		}
		return 1
	})
	a.GossipKeys = keys
	return nil
}

// RemoveGossipKey removes the older key. A second call does nothing.
func (a *Authority) RemoveGossipKey() error {
	if len(a.GossipKeys) == gossipKeysMost && a.GossipKeys[0].Number < a.GossipKeys[1].Number {
		return ErrGossipKeyUnused
	}
	a.GossipKeys = slices.Clone(a.GossipKeys[:1])
	return nil
}

// WithGossipKeys is the identity with the gossip keys that the authority has now.
func (id *Identity) WithGossipKeys(a *Authority) *Identity {
	renewed := *id
	renewed.GossipKeys = a.GossipKeys
	return &renewed
}
