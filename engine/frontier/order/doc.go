// Package order decides in which order ready URLs come to their sites: the flag --visit. Politeness, the order within a
// site, and page requisites, which come first, are not its subject.
//
//	parse workers   NoteLinks   the links of a page: which registrable domains link to which
//	Distributor     Class       a ready URL gets a class, and waits in the queue of that class (sites.DiskQueues)
//	Distributor     Next        the class whose oldest URL is next
//
// BreadthFirst has no classes: ready URLs come in the order of their discovery.
//
// Ranked gives each registrable domain a share of the crawl in proportion to its weight: 1, and 1 for each other domain
// that links to it. The n-th URL of a domain with weight w gets class 0 if n <= w, class 1 if n <= 2 w, class 2 if
// n <= 4 w, and so on. URLs of lower classes are next. This is the budget of STAR, and the doubling of BEAST (Lee,
// Leonard, Wang and Loguinov, "IRLbot: Scaling to 6 Billion Pages and Beyond", 2008), without moves from queue to
// queue. So a spam farm, whose pages only its own domain links to, waits until the others are through. No URL is
// dropped, and no class starves: one URL in 64 comes from a higher class.
//
// Another domain is counted by one bit of 64, so a weight has an error of some 8 % and is 267 at most.
//
// # Costs
//
// BreadthFirst costs one call for each page. The table of Ranked has 2^18 domains of 24 bytes, whatever the size of
// the crawl. Beyond that a new domain takes the place of the least one of eight: that domain begins again at class
// 0. A ready URL is written to the queue of its class and read again. A link to another host costs two look-ups of
// public suffixes.
//
// Promise O1: what was queued in a class stays there, also over a resume. The table is in the checkpoint; after a kill
// it is that of the last checkpoint.
package order
