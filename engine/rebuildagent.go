package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/ownership"
)

// seatless is an agent that meets nobody: a rebuild needs no more than its name.
type seatless struct{ peer ownership.Agent }

var errSeatless = errors.New("engine: nobody is met in a rebuild")

// Self implements Peering.
func (s seatless) Self() string { return s.peer.ID }

// Agents implements Peering.
func (s seatless) Agents() []ownership.Agent { return []ownership.Agent{s.peer} }

// Changed implements Peering.
func (seatless) Changed() <-chan struct{} { return nil }

// KnownAgents implements Peering.
func (s seatless) KnownAgents() []cluster.KnownAgent {
	return []cluster.KnownAgent{{Agent: s.peer, State: cluster.AgentAlive}}
}

// Lost implements Peering.
func (seatless) Lost() <-chan struct{} { return nil }

// Err implements Peering.
func (seatless) Err() error { return nil }

// Join implements Peering.
func (seatless) Join(context.Context, uint64, cluster.Handler) error { return errSeatless }

// Leave implements Peering.
func (seatless) Leave(context.Context) error { return nil }

// Send implements Peering.
func (seatless) Send(context.Context, string, uint64, []byte) error { return errSeatless }

// Ask implements Peering.
func (seatless) Ask(context.Context, string, []byte) ([]byte, error) { return nil, errSeatless }

// newStore is a number that no data had before; never 0.
func newStore() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("engine: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) | 1, nil
}
