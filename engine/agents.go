package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

func hashOf(peers []Peer) uint64 {
	var b []byte
	for _, p := range peers {
		b = fmt.Appendf(b, "%q %d %d\n", p.ID, p.Capacity, p.Store)
	}
	return xxh3.Hash(b)
}

// Peer is an agent as the others see it.
type Peer struct {
	ID       string `json:"id"`
	Capacity int    `json:"capacity"`
	// Store tells the data of an agent from what it had under the same name before it lost them.
	Store uint64 `json:"store"`
}

// line names the agent with these data.
func (p Peer) line() string { return fmt.Sprintf("%s/%016x", p.ID, p.Store) }

// nameOf is the agent of a line.
func nameOf(line string) string {
	name, _, _ := strings.Cut(line, "/")
	return name
}

func namesOf(lines []string) (names []string) {
	for _, line := range lines {
		names = append(names, nameOf(line))
	}
	return slices.Compact(names)
}

func linesOf(peers []Peer) (lines []string) {
	for _, p := range peers {
		lines = append(lines, p.line())
	}
	slices.Sort(lines)
	return lines
}
