package membership

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/memberlist"
)

// ErrNoKey means that encryption cannot be switched on or off while the agent runs.
var ErrNoKey = errors.New("membership: encryption cannot be switched on or off while the agent runs")

// keyring holds the gossip keys.
type keyring struct {
	encrypts bool // false if this agent has no key, and the other fields are unused
	list     *memberlist.Keyring
	changing sync.Mutex                    // one change at a time
	ciphers  atomic.Pointer[[]cipher.AEAD] // of all keys in list, for opens
}

func newKeyring(key []byte, accepted [][]byte) (*keyring, error) {
	if len(key) == 0 {
		return &keyring{}, nil
	}
	list, err := memberlist.NewKeyring(accepted, key)
	if err != nil {
		return nil, fmt.Errorf("membership: %w", err)
	}
	k := &keyring{encrypts: true, list: list}
	return k, k.updateCiphers()
}

func (k *keyring) updateCiphers() error {
	var ciphers []cipher.AEAD
	for _, key := range k.list.GetKeys() {
		block, err := aes.NewCipher(key)
		if err != nil {
			return fmt.Errorf("membership: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return fmt.Errorf("membership: %w", err)
		}
		ciphers = append(ciphers, aead)
	}
	k.ciphers.Store(&ciphers)
	return nil
}

// Memberlist's encrypted form, which its protocol fixes: version, nonce, then ciphertext and tag of AES-GCM. The
// additional data are empty for a packet and the header of the message for a stream.
const (
	maxEncryptionVersion = 1
	nonceSize            = 12
)

// opens reports whether a key of the keyring opens an encrypted message. It uses scratch for the plaintext, and returns
// it for reuse.
func (k *keyring) opens(encrypted, additional, scratch []byte) (ok bool, _ []byte) {
	if len(encrypted) < 1+nonceSize || encrypted[0] > maxEncryptionVersion {
		return false, scratch
	}
	nonce, ciphertext := encrypted[1:1+nonceSize], encrypted[1+nonceSize:]
	for _, aead := range *k.ciphers.Load() {
		plain, err := aead.Open(scratch[:0], nonce, ciphertext, additional)
		if err == nil {
			return true, plain
		}
	}
	return false, scratch
}

// keyFault checks the form of gossip keys.
func keyFault(key []byte, accepted [][]byte) error {
	if len(key) == 0 && len(accepted) > 0 {
		return fmt.Errorf("%w: accepted gossip keys without a key to encrypt with", ErrOptions)
	}
	for _, k := range append(slices.Clone(accepted), key) {
		if len(k) != KeySize && len(k) != 0 {
			return fmt.Errorf("%w: a gossip key of %d bytes: want %d", ErrOptions, len(k), KeySize)
		}
	}
	if slices.ContainsFunc(accepted, func(k []byte) bool { return len(k) == 0 }) {
		return fmt.Errorf("%w: an empty accepted gossip key", ErrOptions)
	}
	return nil
}

func cloneKeys(keys [][]byte) (clones [][]byte) {
	for _, key := range keys {
		clones = append(clones, bytes.Clone(key))
	}
	return clones
}

// SetKeys sets the key that encrypts from now on, and the further keys that open messages. To change the key of a crawl
// without losing messages, take three steps, each on all agents before the next one: accept the new key; encrypt with
// the new key and accept the old one; accept only the new key. SetKeys copies the keys.
func (s *Service) SetKeys(key []byte, accepted [][]byte) error {
	if err := keyFault(key, accepted); err != nil {
		return err
	}
	if s.keys.encrypts != (len(key) > 0) {
		return ErrNoKey
	}
	if !s.keys.encrypts {
		return nil
	}
	return s.keys.set(append([][]byte{bytes.Clone(key)}, cloneKeys(accepted)...))
}

// set replaces all keys. The first one encrypts.
func (k *keyring) set(wanted [][]byte) error {
	k.changing.Lock()
	defer k.changing.Unlock()
	if err := k.addKeys(wanted); err != nil {
		return err
	}
	if err := k.list.UseKey(wanted[0]); err != nil {
		return fmt.Errorf("membership: %w", err)
	}
	// RemoveKey moves the keys behind the removed one, in a slice that other goroutines read. So keys are removed from
	// the end only, wanted ones too, and then the wanted ones are added again.
	unwanted := func(key []byte) bool {
		return !slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, key) })
	}
	for keys := k.list.GetKeys(); slices.ContainsFunc(keys, unwanted); keys = k.list.GetKeys() {
		if err := k.list.RemoveKey(keys[len(keys)-1]); err != nil {
			return fmt.Errorf("membership: %w", err)
		}
	}
	return k.addKeys(wanted)
}

func (k *keyring) addKeys(keys [][]byte) error {
	for _, key := range keys {
		if err := k.list.AddKey(key); err != nil {
			return fmt.Errorf("membership: %w", err)
		}
	}
	return k.updateCiphers()
}
