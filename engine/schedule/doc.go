// Package schedule moves queued URLs from the sieve to the fetch workers and back, and decides when nothing is left.
//
//	Flusher      sieve -> ready queue, when a bucket is full or the Distributor asks for it
//	Distributor  ready queue -> workbench, or the disk queues of sites that have many; it ends the crawl
//	ResolveLoop  a new site -> its address -> workbench
//	Feeder       due Visits of the workbench -> fetch workers
//	Returner     Results of fetch workers -> workbench
//	DeadSites    a site that is given up: each of its URLs gets its outcome
//	Purge        gives up the sites that a new host rule excludes
//
// Package engine starts them. The chain of a URL:
//
//	Flusher.FlushOnce -> Distributor.distribute -> place -> sites.Table.Admit -> workbench.Workbench.Push or
//	sites.DiskQueues -> Distributor.refill -> workbench.Workbench.Push -> Feeder.feed
//	-> fetchers -> visit.ResultQueue -> Returner.fold -> workbench.Workbench.Release
//
// Each moves a URL within one step of the journal (journal.Steps), so that a checkpoint finds it in exactly one place:
// promise E1 of package engine. Only the Distributor uses the disk queues and reads the ready queue.
package schedule
