package order

import "orbweaver/engine/state/queued"

// focused takes URLs with the largest score first. Seeds come before all others.
type focused struct {
	classes
	state []byte // of another order, kept for a later run
}

// QueueOf implements Policy.
func (*focused) QueueOf(url *queued.URL) int {
	if url.Seed {
		return 0
	}
	return Classes - 1 - min(url.Score, Classes-1)
}

// State implements Policy.
func (f *focused) State() []byte { return f.state }
