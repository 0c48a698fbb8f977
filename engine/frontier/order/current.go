package order

import "sync/atomic"

// Current is the order of a crawl, which may change while it runs. Safe for concurrent use, except Adopt.
type Current struct {
	options Options
	seed    uint64
	policy  atomic.Pointer[Policy]
	wanted  atomic.Pointer[Visit] // nil if the order need not change
}

// NewCurrent returns the order of the options: see New.
func NewCurrent(o Options, seed uint64, state []byte) *Current {
	c := &Current{options: o, seed: seed}
	policy := New(o, seed, state)
	c.policy.Store(&policy)
	return c
}

// Policy is the order in force.
func (c *Current) Policy() Policy { return *c.policy.Load() }

// State is that of the order in force.
func (c *Current) State() []byte { return c.Policy().State() }

// Explain is that of the order in force.
func (c *Current) Explain(url []byte) *Place { return c.Policy().Explain(url) }

// Largest is that of the order in force.
func (c *Current) Largest(most int) []Place { return c.Policy().Largest(most) }

// Allows is that of the options.
func (c *Current) Allows(v Visit) error { return c.options.Allows(v) }

// Change asks for another order, which Adopt puts into force.
func (c *Current) Change(to Visit) { c.wanted.Store(&to) }

// Adopt puts the order into force that was asked for last, and reports whether there was one. The new order begins with
// the state of the one before, and has no queues: its user adds those on disk. Only the Distributor calls it.
func (c *Current) Adopt() bool {
	to := c.wanted.Swap(nil)
	if to == nil {
		return false
	}
	options := c.options
	options.Visit = *to
	policy := New(options, c.seed, c.State())
	c.policy.Store(&policy)
	return true
}
