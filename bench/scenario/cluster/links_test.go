package cluster

import (
	"slices"
)

// direction is from one agent to another.
type direction struct{ from, to string }

// setBroken breaks the connections from some agents to others, or repairs them. What membership makes of that is set by
// setSeen and updateMembership.
func (h *hub) setBroken(from, to []string, broken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range from {
		for _, b := range to {
			h.broken[direction{a, b}] = broken
		}
	}
}

// repairAll repairs all connections.
func (h *hub) repairAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.broken)
}

// setSeen says whether some agents see others as members.
func (h *hub) setSeen(viewers, others []string, seen bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range viewers {
		for _, b := range others {
			h.unseen[direction{a, b}] = !seen && a != b
		}
	}
	h.announce()
}

// updateMembership is what membership makes of the connections after a while: an agent is seen if it can be reached and
// answers, directly or through others.
func (h *hub) updateMembership(names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range names {
		found := []string{a}
		for i := 0; i < len(found); i++ {
			for _, b := range names {
				if !slices.Contains(found, b) && !h.broken[direction{found[i], b}] && !h.broken[direction{b, found[i]}] {
					found = append(found, b)
				}
			}
		}
		for _, b := range names {
			h.unseen[direction{a, b}] = !slices.Contains(found, b)
		}
	}
	h.announce()
}
