// Package engine is one agent: it opens every component, starts the loops, and closes everything in order. Use it
// through Open, Run and Close. Operator is for its operator.
//
// ARCHITECTURE.md has the picture of how URLs, Visits and Pages go through the program, and the packages below this
// one. What is here, by files:
//
//	engine.go    Engine: what is open on disk, what decides, the queues between loops, the loops
//	open.go      Open: lock, manifest, files, restore, first checkpoint; rebuild.go opens an empty frontier
//	wire.go      gives each loop the parts that it uses
//	run.go       Run: starts and ends the groups of loops; loops.go starts each loop
//	conclude.go  the last checkpoint and the last report
//	config.go    Config, the tree of options; seams.go what a simulated world replaces
//
// Several agents: engine/state/cluster has the roles of the other agents as interfaces; engine/cluster/agent implements
// them.
//
// Promises:
//
//	E1: conservation. URLs handed to the sieve = still in its buckets + known + admitted, and admitted = finished, by
//	    outcome + queued (ready queue, virtualizer, workbench) + in flight (Visits, Pages). The counters change only
//	    within the step (journal.Steps) that moves the URL.
//
// A step waits for nothing but a read of what is on disk: a block of a queue, an idle host. Lock order: a step, then
// the commit lock or the lock of sites.Table, then the locks of components.
//
// What it costs: a page takes two steps, one write to the archive and one of 63 bytes to the journal. Pages that are
// written at the same time share the writes.
package engine
