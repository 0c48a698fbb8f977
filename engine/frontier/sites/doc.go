// Package sites finds a site by its key, in the workbench or in the cold store (Table). It also has the queues of sites
// on disk (DiskQueues), and the sites that wait for an address (UnresolvedQueue).
//
// The queue of a site is in three parts, which are emptied in this order:
//
//	workbench            a few items in memory
//	spilled, ready       DiskQueues: items that were spilled from memory, then those that found no room in it
//	delayed              DiskQueues: URLs that look like parts of a trap (engine/traps)
//
// Only the distributor (engine/frontier/schedule) uses DiskQueues. An UnresolvedQueue is safe for concurrent use.
package sites
