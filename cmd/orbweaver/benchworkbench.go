package main

import "orbweaver/bench/rooms"

type benchWorkbenchCmd struct {
	roomFlags `embed:""`
	Cold      bool `help:"Measure hosts that leave the workbench for the disk, and come back."`
}

// Help says what it does.
func (*benchWorkbenchCmd) Help() string {
	return "The workbench with the engine's own Sites: what a known, idle host costs in memory; what a Visit costs alone and with 4,000\n" +
		"workers between the queues; how long cuts take, how long they stop others, and how long loading takes. With --cold what a host\n" +
		"costs that is on disk, and its way there and back. --urls is not used.\n\n" +
		"Examples:\n  orbweaver bench workbench\n  orbweaver bench workbench --hosts 10_000_000\n  orbweaver bench workbench --cold"
}

// Run measures.
func (c *benchWorkbenchCmd) Run(w *world) error {
	if c.Cold {
		return c.measure(w, rooms.WorkbenchCold)
	}
	return c.measure(w, rooms.Workbench)
}
