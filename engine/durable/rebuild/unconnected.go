package rebuild

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// Unconnected is a cluster.Network without other agents: a rebuild needs the name of the agent alone.
type Unconnected struct{ Agent ownership.Agent }

var errUnconnected = errors.New("rebuild: a rebuild has no connection to other agents")

// Self implements cluster.Network.
func (s Unconnected) Self() string { return s.Agent.ID }

// Agents implements cluster.Network.
func (s Unconnected) Agents() []ownership.Agent { return []ownership.Agent{s.Agent} }

// Changed implements cluster.Network.
func (Unconnected) Changed() <-chan struct{} { return nil }

// KnownAgents implements cluster.Network.
func (s Unconnected) KnownAgents() []cluster.KnownAgent {
	return []cluster.KnownAgent{{Agent: s.Agent, State: cluster.AgentAlive}}
}

// Lost implements cluster.Network.
func (Unconnected) Lost() <-chan struct{} { return nil }

// Err implements cluster.Network.
func (Unconnected) Err() error { return nil }

// Join implements cluster.Network.
func (Unconnected) Join(context.Context, uint64, cluster.Handler) error { return errUnconnected }

// Leave implements cluster.Network.
func (Unconnected) Leave(context.Context) error { return nil }

// Send implements cluster.Network.
func (Unconnected) Send(context.Context, string, uint64, []byte) error { return errUnconnected }

// Ask implements cluster.Network.
func (Unconnected) Ask(context.Context, string, []byte) ([]byte, error) { return nil, errUnconnected }

// NewStore is a new random instance number of an agent's data, not 0.
func NewStore() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("rebuild: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) | 1, nil
}
