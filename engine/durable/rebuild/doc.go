// Package rebuild makes the frontier of a crawl again from its archive alone, when the frontier is lost or damaged.
//
// Package engine opens empty components (Parts) and calls, in this order:
//
//	Begin        the old frontier is moved aside; a mark file says that a rebuild is not finished
//	KeepSeeds    the seeds and host rules that are left are taken over
//	ReadArchive  two readings of the archive, below
//	(engine)     a checkpoint of the new frontier, in the state of a crawl that was stopped
//	End          the mark and the lists are removed
//
// A rebuild may be killed at any moment and run again: the mark file makes the next one begin again.
//
//	           +--> repaired file, CDXJ
//	records ---+--> sieve: URLs that have their last outcome
//	           +--> payload digests, counters, due times
//	links   ------> admission: links of stored pages, and URLs to be tried again --> sieve --> ready queue
//
// The sieve lets each URL through once, so what the second reading brings through it is what has no record. Memory is
// bounded: what grows with the archive is in files, those of the components and the lists in frontier/rebuild.
//
// A rebuild trusts the archive and nothing else. It does not know how far a page is from a seed (links of stored pages
// count as one link away), how many redirects led to it, how often a URL was tried without an answer, what was refused,
// and seeds that were never fetched. So it drops no URL that a stored page links to, and may fetch again what failed.
//
// For one of several agents the answers enter the list of fetched URLs, too. Links to hosts of other agents are queued
// like its own, since the other agents are not known here: they are sent on when the crawl continues. The agent gets a
// new instance number, so that the other agents send it again all that they ever sent to it.
//
// WriteIndexes writes missing CDXJ files, and needs no rebuild.
package rebuild
