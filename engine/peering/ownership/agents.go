package ownership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
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
