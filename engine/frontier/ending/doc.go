// Package ending decides when a crawl stops as stalled, and says why a crawl has ended or what it waits for.
//
// A crawl ends by itself in one of these states. The distributor (engine/frontier/schedule) asks while it has nothing
// to move:
//
//	every admitted URL has an outcome                         -> finished: StateOf, except URLs that were given up
//	  and no server has ever answered, or no seed was admitted     -> failed: StateOf says why and what to do
//	every queued URL is of a failing site (StallDetector):
//	  no outcome from a server for three quarters of StallWait     -> all failing sites are tried once more
//	  nor for all of StallWait, and no site has named a time       -> stalled: FailingSites lists the sites
//
// In a cluster no agent ends by itself: see engine/state/cluster. Limits and signals end a crawl elsewhere
// (engine/state/limits).
//
// A StallDetector belongs to the distributor, except EndsAt. A Reporter is safe for concurrent use.
package ending
