package ownership

import (
	"fmt"

	"orbweaver/engine/peering/ring"
)

const (
	// maxUnits bounds the capacities of all agents together: the ring has ring.DefaultReplicas points for each unit, of
	// 15 bytes each while it is built. Above that the capacities are scaled down, in the same way by all agents that
	// know the same members.
	maxUnits = 2048
	// maxPoints bounds the points if there are more agents than units.
	maxPoints = maxUnits * ring.DefaultReplicas
)

// Method is how hosts are assigned to agents: the value of --assign. All agents of a crawl have the same one.
type Method uint8

// The methods, in the order of the flag's words.
const (
	Consistent Method = iota
	Rendezvous
)

// String returns the word of the flag.
func (m Method) String() string {
	if m == Rendezvous {
		return "rendezvous"
	}
	return "consistent"
}

// Assign builds the assignment of hosts to agents, whatever their capacities are. It fails only if there is no agent or
// two agents have one ID.
func (m Method) Assign(agents []Agent) (ring.Assignment, error) {
	if m == Rendezvous {
		members := make([]ring.Member, len(agents))
		for i, a := range agents {
			members[i] = ring.Member{ID: a.ID, Capacity: boundedCapacity(a)}
		}
		assignment, err := ring.NewRendezvous(members)
		if err != nil {
			return nil, fmt.Errorf("ownership: agents: %w", err)
		}
		return assignment, nil
	}
	sum := 0
	for _, a := range agents {
		sum += boundedCapacity(a)
	}
	members := make([]ring.Member, len(agents))
	for i, a := range agents {
		capacity := boundedCapacity(a)
		if sum > maxUnits {
			capacity = max(1, capacity*maxUnits/sum)
		}
		members[i] = ring.Member{ID: a.ID, Capacity: capacity}
	}
	replicas := ring.DefaultReplicas
	if len(agents) > maxUnits/2 { // at least 1 each may be twice as many units
		replicas = max(1, maxPoints/(2*len(agents)))
	}
	assignment, err := ring.NewConsistent(members, replicas)
	if err != nil {
		return nil, fmt.Errorf("ownership: agents: %w", err)
	}
	return assignment, nil
}

// boundedCapacity is the capacity that an agent announces, within the bounds of the ring.
func boundedCapacity(a Agent) int { return min(max(a.Capacity, 1), ring.MaxCapacity) }
