package engine

import (
	"fmt"

	"orbweaver/engine/cluster/ring"
)

const (
	// unitsMost bounds the capacities of all agents together: the circle has ring.ReplicasDefault points for each unit,
	// of 15 bytes while it is made. Above that the capacities are scaled down, the same way by all agents that know the
	// same members.
	unitsMost = 2048
	// pointsMost bounds the points if there are more agents than units.
	pointsMost = unitsMost * ring.DefaultReplicas
)

// assign makes the assignment to agents. It has none only if there is no agent, or two have one name: capacities may be
// anything.
func assign(peers []Peer) (*ring.Consistent, error) {
	sum := 0
	for _, p := range peers {
		sum += capacityOf(p)
	}
	members := make([]ring.Member, len(peers))
	for i, p := range peers {
		capacity := capacityOf(p)
		if sum > unitsMost {
			capacity = max(1, capacity*unitsMost/sum)
		}
		members[i] = ring.Member{ID: p.ID, Capacity: capacity}
	}
	replicas := ring.DefaultReplicas
	if len(peers) > unitsMost/2 { // at least 1 each may be twice as many units
		replicas = max(1, pointsMost/(2*len(peers)))
	}
	who, err := ring.NewConsistent(members, replicas)
	if err != nil {
		return nil, fmt.Errorf("engine: agents: %w", err)
	}
	return who, nil
}

// capacityOf is what an agent says of itself, within bounds.
func capacityOf(p Peer) int { return min(max(p.Capacity, 1), ring.MaxCapacity) }
