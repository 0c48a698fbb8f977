package peering

import (
	"fmt"

	"orbweaver/engine/cluster/identity"
)

// keysOf gives the gossip key that an identity encrypts with, and those that it accepts beside it.
func keysOf(id *identity.Identity) (key []byte, accepted [][]byte) {
	for i, k := range id.GossipKeys {
		if i == 0 {
			key = k.Key
			continue
		}
		accepted = append(accepted, k.Key)
	}
	return key, accepted
}

// Renew takes another file of this agent, by the same authority, while the agent runs: its certificate and its gossip
// keys.
func (s *Seat) Renew(id *identity.Identity) error {
	if err := s.transport.Renew(id); err != nil {
		return fmt.Errorf("peering: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identity = id
	g := s.group.Load()
	if g == nil { // Join takes them
		return nil
	}
	key, accepted := keysOf(id)
	if err := g.SetKeys(key, accepted); err != nil {
		return fmt.Errorf("peering: %w", err)
	}
	return nil
}
