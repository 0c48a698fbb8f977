// Package schedule moves queued URLs from the sieve to the fetch workers and back, and finds out when nothing is left.
//
//	Flusher      sieve -> ready queue: when a bucket is full, the Distributor requests it, or a requisite waits
//	Distributor  ready queue -> workbench, or the disk queues of sites that have many; it ends the crawl
//	ResolveLoop  a new site -> its address -> workbench
//	Feeder       due Visits of the workbench -> fetch workers; it decides how many are out
//	Backlog      fewer of them, while the parse workers are behind
//	Returner     Results of fetch workers -> workbench
//	DeadSites    a site that is given up: each of its URLs gets its outcome
//	Front        how many IP addresses are due soon, and how many should be
//
// Package engine makes and starts them. The Distributor has four parts:
//
//	emptier   takes items away: dead sites, excluded hosts, a full workbench
//	placer    gives a URL to its site, or to the list of skipped URLs
//	delayer   brings items back from disk; those that look like parts of a trap come last
//	endCheck  how long to wait, or why the crawl is over
//
// The chain of a URL:
//
//	Flusher.FlushOnce -> Distributor.step -> placer.placeFrom -> placer.place -> sites.Table.Admit -> placer.queue
//	-> workbench.Workbench.Push, or sites.DiskQueues -> delayer.refill -> workbench.Workbench.Push
//	-> Feeder.feed -> fetchers -> visit.ResultQueue -> Returner.fold -> workbench.Workbench.Release
//
// Each moves a URL within one step of the journal (journal.Steps), so that a checkpoint finds it in exactly one place:
// promise E1 of package engine. A step waits for reads of the disk only, and for few of them. Only the Distributor
// uses the disk queues and reads the ready queue.
package schedule
