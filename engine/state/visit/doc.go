// Package visit defines what the loops of a crawl pass to each other: sites on the workbench, Visits (leases on a site
// for one fetch), and the Results with which Visits return.
//
//	feeder        Workbench.Acquire -> Visit          (engine/frontier/schedule)
//	fetch worker  Visit -> exchange -> Result         (engine/workers/fetchers)
//	returner      Result -> Workbench.Release         (engine/frontier/schedule)
//
// Shares keep fetch workers free for sites that answer promptly.
//
// A Visit has one owner at any time: the queue of Visits to do, a fetch worker, the ResultQueue, or the returner.
package visit
