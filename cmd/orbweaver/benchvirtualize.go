package main

import "orbweaver/bench/rooms"

type benchVirtualizeCmd struct {
	roomFlags `embed:""`
}

// Help shows an example.
func (*benchVirtualizeCmd) Help() string {
	return "Appends bursts of URLs to queues at random, takes them 64 at a time, does both with Collect beside, makes cuts, and opens\n" +
		"the last one.\n\nExample:\n  orbweaver bench virtualize --urls 100_000_000 --hosts 10_000_000"
}

// Run measures.
func (c *benchVirtualizeCmd) Run(w *world) error { return c.measure(w, rooms.Virtualize) }
