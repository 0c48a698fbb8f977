package ring

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Member is an agent.
type Member struct {
	ID       string // not empty; tells agents apart, and settles every tie: the smaller one, byte by byte, wins
	Capacity int    // 1 to CapacityMax: what it takes in proportion to the others
}

// CapacityMax bounds capacities: only their proportion counts.
const CapacityMax = 1000

// Assignment is who is responsible for which host.
type Assignment interface {
	// Members are those there are, by their identifiers. The slice is lent.
	Members() []Member
	// Owner is the number among Members of the one that is responsible for a key.
	Owner(key uint64) int
}

// ErrMembers is wrapped by every fault of a set of members.
var ErrMembers = errors.New("ring: bad members")

// membersMax is how many members fit into their numbers.
const membersMax = 1 << 16

// Key is the point of a host: xxh3-64 of its name, which is in lower case and has no port, so that all sites of a host have one owner.
func Key(host []byte) uint64 { return xxh3.Hash(host) }

// seed is what an identifier contributes.
func (m *Member) seed() uint64 { return xxh3.HashString(m.ID) }

// ordered copies members in the order of their identifiers, and joins all faults.
func ordered(members []Member) ([]Member, error) {
	all := slices.Clone(members)
	slices.SortFunc(all, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	var faults []error
	if len(all) == 0 || len(all) > membersMax {
		faults = append(faults, fmt.Errorf("%w: %d: want 1 to %d", ErrMembers, len(all), membersMax))
	}
	for i, m := range all {
		switch {
		case m.ID == "":
			faults = append(faults, fmt.Errorf("%w: one has no identifier", ErrMembers))
		case i > 0 && all[i-1].ID == m.ID:
			faults = append(faults, fmt.Errorf("%w: there are two %q", ErrMembers, m.ID))
		}
		if m.Capacity < 1 || m.Capacity > CapacityMax {
			faults = append(faults, fmt.Errorf("%w: %q has capacity %d: want 1 to %d", ErrMembers, m.ID, m.Capacity, CapacityMax))
		}
	}
	return all, errors.Join(faults...)
}

// golden is 2^64 divided by the golden ratio, odd.
const golden = 0x9E3779B97F4A7C15

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014), a permutation of all numbers.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
