package network

import (
	"fmt"

	"orbweaver/engine/peering/identity"
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
func (n *Network) Renew(id *identity.Identity) error {
	if err := n.transport.Renew(id); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.identity = id
	members := n.members.Load()
	if members == nil { // Join takes them
		return nil
	}
	key, accepted := keysOf(id)
	if err := members.SetKeys(key, accepted); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	return nil
}
