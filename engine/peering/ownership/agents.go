package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/peering/ring"
)

// Agent is a member of the cluster, as it announces itself.
type Agent struct {
	ID       string `json:"id"`
	Capacity int    `json:"capacity"`
	// Store is a number of the agent's data: it tells them from data that the agent lost under the same ID.
	Store uint64 `json:"store"`
}

// Instance names the agent with these data: its ID, a slash and its store in hexadecimal digits.
func (a Agent) Instance() string { return fmt.Sprintf("%s/%016x", a.ID, a.Store) }

// AgentID is the ID of an instance.
func AgentID(instance string) string {
	id, _, _ := strings.Cut(instance, "/")
	return id
}

// AgentIDs are the IDs of instances that are in order, each once.
func AgentIDs(instances []string) (ids []string) {
	for _, instance := range instances {
		ids = append(ids, AgentID(instance))
	}
	return slices.Compact(ids)
}

// Instances names agents with their data, in order.
func Instances(agents []Agent) (instances []string) {
	for _, a := range agents {
		instances = append(instances, a.Instance())
	}
	slices.Sort(instances)
	return instances
}

// Hash tells one list of agents from another.
func Hash(agents []Agent) uint64 {
	var b []byte
	for _, a := range agents {
		b = fmt.Appendf(b, "%q %d %d\n", a.ID, a.Capacity, a.Store)
	}
	return xxh3.Hash(b)
}

// InstanceMax is the longest instance, in bytes: an ID of 64 bytes, a slash, 16 hexadecimal digits.
const InstanceMax = 64 + 1 + 16

// IsInstance says that a text has the form of an instance.
func IsInstance(text string) bool {
	id, store, ok := strings.Cut(text, "/")
	if !ok || id == "" || len(text) > InstanceMax || len(store) != 16 {
		return false
	}
	for i := range len(store) {
		if c := store[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

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
