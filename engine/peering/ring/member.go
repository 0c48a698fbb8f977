package ring

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Member is an agent that can own hosts.
type Member struct {
	ID       string // not empty, unique; of two equal candidates the smaller ID wins, compared byte by byte
	Capacity int    // 1 to MaxCapacity: the member's share in proportion to the other members' capacities
}

// MaxCapacity bounds capacities. Only their proportions matter.
const MaxCapacity = 1000

// Assignment maps host keys to members. It keeps O1 and O2: the owner depends on the set of members alone, and a change
// of the set moves only hosts of the members that changed. Shares follow capacities (O3).
type Assignment interface {
	// Members returns the members in the order of their IDs. The slice belongs to the Assignment.
	Members() []Member
	// Owner returns the index in Members of the owner of a key, as docs/ring.md defines it (O4).
	Owner(key uint64) int
	// Shares returns the part of all keys that each member owns, in the order of Members. The slice belongs to the
	// Assignment.
	Shares() []float64
}

// ErrMembers is wrapped by every error about a set of members.
var ErrMembers = errors.New("ring: invalid members")

// maxMembers is the largest number of members, since a member number has 16 bits.
const maxMembers = 1 << 16

// Key is the key of a host: xxh3-64 of its name in lower case and without a port. So one agent owns all sites of a
// host. Key borrows host until it returns.
func Key(host []byte) uint64 { return xxh3.Hash(host) }

// seed is the hash of the identifier. All positions and draws of a member depend on it.
func (m *Member) seed() uint64 { return xxh3.HashString(m.ID) }

// sortedMembers returns a copy of members in the order of their IDs, and all faults joined.
func sortedMembers(members []Member) ([]Member, error) {
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	var faults []error
	if len(sorted) == 0 || len(sorted) > maxMembers {
		faults = append(faults, fmt.Errorf("%w: %d members: want 1 to %d", ErrMembers, len(sorted), maxMembers))
	}
	for i, m := range sorted {
		switch {
		case m.ID == "":
			faults = append(faults, fmt.Errorf("%w: a member has no identifier", ErrMembers))
		case i > 0 && sorted[i-1].ID == m.ID:
			faults = append(faults, fmt.Errorf("%w: two members have the identifier %q", ErrMembers, m.ID))
		}
		if m.Capacity < 1 || m.Capacity > MaxCapacity {
			faults = append(faults,
				fmt.Errorf("%w: %q has capacity %d: want 1 to %d", ErrMembers, m.ID, m.Capacity, MaxCapacity))
		}
	}
	return sorted, errors.Join(faults...)
}

// splitMixStep is what SplitMix64 adds to its state at each step: 2^64 divided by the golden ratio, made odd.
const splitMixStep = 0x9E3779B97F4A7C15

// splitMix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014), a permutation of all 64-bit numbers.
func splitMix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
