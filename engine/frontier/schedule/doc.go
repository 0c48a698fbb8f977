// Package schedule moves queued URLs from the sieve to the fetch workers and back, and finds out when nothing is left.
//
//	Flusher      sieve -> ready queue: when a bucket is full, the Distributor requests it, or a requisite waits
//	Distributor  ready queue -> workbench, or the disk queues of sites that have many; it ends the crawl
//	ResolveLoop  a new site -> its address -> workbench
//	Feeder       due Visits of the workbench -> fetch workers; it decides how many are out
//	Returner     Results of fetch workers -> workbench
//	DeadSites    a site that is given up: each of its URLs gets its outcome
//	Front        how many IP addresses are due soon, and how many should be
//
// Package engine makes and starts them. The parts of the Distributor, in the order of its step: emptier (dead sites),
// purge (excluded hosts), spiller (a full workbench), placer (a URL to its site), delayedURLs and delayedSites (parts
// of traps), surplusScan (requisites at the limit of pages), skipList, endCheck. The chain of a URL:
//
//	Flusher.FlushOnce -> Distributor.placeReady -> placer.place -> sites.Table.Admit
//	-> workbench.Workbench.Push, or sites.DiskQueues -> Distributor.refill -> workbench.Workbench.Push
//	-> Feeder.feed -> fetchers -> visit.ResultQueue -> Returner.fold -> workbench.Workbench.Release
//
// Each moves a URL within one step of the journal (journal.Steps), so that a checkpoint finds it in exactly one place:
// promise E1 of package engine. A step waits for reads of the disk only, and for few of them. Only the Distributor
// uses the disk queues and reads the ready queue.
package schedule
