package identity

import (
	"crypto/rand"
	"errors"
	"slices"
)

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
