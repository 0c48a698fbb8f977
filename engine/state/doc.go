// Package state is a chapter of the engine, without code of its own: it has the values that the loops of an agent
// share: a queued URL, a site, a Visit, the settings that may change while the crawl runs, and the counters.
//
//	queued            a URL that waits for its fetch; the queue of those that have passed the sieve
//	site, visit       what is known of a site; a lease on a site for one fetch, and its result
//	attempt           one try to fetch a URL
//	settings, limits  what may change in a running crawl; quotas and limits
//	counters          what the crawl has done
//	layout            names of files, and the lock of the directory
//	lifecycle         states of a crawl, groups of its loops, time over restarts
//	addrgroup         groups of hosts that share a delay
//	cluster           what the engine needs of other agents, as interfaces; cluster.Alone for one agent
//
// A Visit has one owner at any time: the workbench, a fetch worker, the queue of results, the workbench.
package state
