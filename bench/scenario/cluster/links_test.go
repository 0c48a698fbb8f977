package cluster

import (
	"slices"
)

// way is from one agent to another.
type way struct{ from, to string }

// sever cuts the ways from some agents to others, or mends them. Who takes whom for dead is another matter: see see.
func (h *hub) sever(from, to []string, cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range from {
		for _, b := range to {
			h.cut[way{a, b}] = cut
		}
	}
}

// mend mends all ways.
func (h *hub) mend() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.cut)
}

// see says whether some agents have others among those who are there.
func (h *hub) see(viewers, others []string, there bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range viewers {
		for _, b := range others {
			h.blind[way{a, b}] = !there && a != b
		}
	}
	h.tell()
}

// notice is what membership makes of the ways after a while: who can be reached and answers, directly or through
// others, is there.
func (h *hub) notice(names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range names {
		found := []string{a}
		for i := 0; i < len(found); i++ {
			for _, b := range names {
				if !slices.Contains(found, b) && !h.cut[way{found[i], b}] && !h.cut[way{b, found[i]}] {
					found = append(found, b)
				}
			}
		}
		for _, b := range names {
			h.blind[way{a, b}] = !slices.Contains(found, b)
		}
	}
	h.tell()
}
