package members

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/memberlist"
)

// ErrNoKey says that a Group without encryption cannot be given a key, nor one with encryption be left without.
var ErrNoKey = errors.New("members: encryption cannot begin or end while the agent runs")

// newKeyring gives nil without a key: nothing is encrypted then.
func newKeyring(key []byte, accepted [][]byte) (*memberlist.Keyring, error) {
	if len(key) == 0 {
		return nil, nil //nolint:nilnil // as the comment says
	}
	ring, err := memberlist.NewKeyring(accepted, key)
	if err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	return ring, nil
}

// keyFault says what is wrong with some keys.
func keyFault(key []byte, accepted [][]byte) error {
	if len(key) == 0 && len(accepted) > 0 {
		return fmt.Errorf("%w: keys are accepted, and none is encrypted with", ErrOptions)
	}
	for _, k := range append(slices.Clone(accepted), key) {
		if len(k) != KeySize && len(k) != 0 {
			return fmt.Errorf("%w: a gossip key of %d bytes: want %d", ErrOptions, len(k), KeySize)
		}
	}
	if slices.ContainsFunc(accepted, func(k []byte) bool { return len(k) == 0 }) {
		return fmt.Errorf("%w: an empty gossip key is accepted", ErrOptions)
	}
	return nil
}

func cloneKeys(keys [][]byte) (clones [][]byte) {
	for _, key := range keys {
		clones = append(clones, bytes.Clone(key))
	}
	return clones
}

// SetKeys encrypts with a key from now on, and accepts it and some others alone. So that no message is lost when all agents of a group change their
// key, one after the other, there are three steps, each of which all agents make before the next: accept the new key, encrypt with it and accept the
// old one, accept the new one alone.
func (g *Group) SetKeys(key []byte, accepted [][]byte) error {
	if err := keyFault(key, accepted); err != nil {
		return err
	}
	if (g.keys == nil) != (len(key) == 0) {
		return ErrNoKey
	}
	if g.keys == nil {
		return nil
	}
	g.rekeying.Lock()
	defer g.rekeying.Unlock()
	wanted := append([][]byte{bytes.Clone(key)}, cloneKeys(accepted)...)
	if err := g.addKeys(wanted); err != nil {
		return err
	}
	if err := g.keys.UseKey(wanted[0]); err != nil {
		return fmt.Errorf("members: %w", err)
	}
	// RemoveKey moves the keys behind the one that it removes, in a slice that other goroutines read. So keys are removed from the end, those too that
	// are wanted and stand behind one that is not, and these are added again.
	unwanted := func(k []byte) bool {
		return !slices.ContainsFunc(wanted, func(w []byte) bool { return bytes.Equal(w, k) })
	}
	for keys := g.keys.GetKeys(); slices.ContainsFunc(keys, unwanted); keys = g.keys.GetKeys() {
		if err := g.keys.RemoveKey(keys[len(keys)-1]); err != nil {
			return fmt.Errorf("members: %w", err)
		}
	}
	return g.addKeys(wanted)
}

func (g *Group) addKeys(keys [][]byte) error {
	for _, k := range keys {
		if err := g.keys.AddKey(k); err != nil {
			return fmt.Errorf("members: %w", err)
		}
	}
	return nil
}
