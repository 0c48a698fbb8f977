// Package order decides in which order ready URLs come to their sites: the flag --visit. Politeness, the order within a
// site, and page requisites, which come first, are not its subject.
//
//	parse workers   NoteLinks   the links of a page: which registrable domains link to which
//	Distributor     QueueOf     a ready URL waits on disk in a queue of the order (sites.DiskQueues)
//	Distributor     Next        the queue whose oldest URL is next, when the front has room (schedule.Front)
//
// BreadthFirst has no queues: ready URLs come in the order of their discovery.
//
// Ranked has a queue for each registrable domain. Next is the domain that has had the fewest pages for its weight, and
// of equal ones the one that came first. The weight is the number of other domains that link to it, to the power of
// 1.25. It counts at once for what is queued already. These are the budgets of STAR (Lee, Leonard, Wang and Loguinov,
// "IRLbot: Scaling to 6 Billion Pages and Beyond", 2008), without a fixed size. So a spam farm, whose pages only its
// own domain links to, waits until the others are through. No URL is dropped, and no domain starves: one URL in 64
// comes from any of them, in turn.
//
// Budgets are weights from outside (--budgets). They replace those of the domains that they name, also for what an
// earlier run has queued.
//
// Another domain is counted by one bit of 64, so a number of domains has an error of some 8 % and is 266 at most.
//
// perHost, bottomUp and focused have classes in place of domains; the first class that has URLs is next. perHost is
// that of UbiCrawler (Boldi, Codenotti, Santini and Vigna, 2004): URLs of the visit of a host come before those that
// begin another one. A visit has a depth, which is counted from the least depth of the URLs of the host. bottomUp is
// that of Tarantula: the deeper the folder, the sooner. focused has the classes of queued.URL.Score, which the
// expression of --score yields when a link is found. One URL in 64 comes from any class, in turn.
//
// The two sliding windows of Tarantula are not here. Both take turns among hosts, as the workbench does in any case.
//
// # Costs
//
// BreadthFirst costs one call for each page. The others write a ready URL to its queue, and read it again. perHost
// keeps a byte for each of 2^18 hosts, in memory and in the checkpoint; hosts beyond them share one.
//
// The table of Ranked has 2^18 domains of 40 bytes, whatever the size of the crawl, and each domain with queued URLs
// costs 4 bytes more, and some 60 in the virtualizer. Beyond that a new domain takes the place of the least one of
// eight without queued URLs. If all eight have some, it shares the queue of one of them. A link to another host costs
// two look-ups of public suffixes.
//
// # Several agents
//
// The agents of a crawl have one order (network.Options.Visit), which does not change while they run. Scores, depths
// and paths travel with the URLs. The least depth of a host goes to its new owner with the first of its URLs, so they
// keep their classes. Each agent's Ranked counts the links of the pages that the agent has fetched, and the turns of
// its own hosts: a domain whose hosts several agents own has its share at each of them. ADR 67 has figures.
//
// Current is the order in force. An operator may change it (ctl set visit=ORDER), and it holds for what is queued from
// then on: what another order has left comes first, as at a resume with another order.
//
// Promise O1: what was queued stays in its queue, also over a resume and a change of the order. The tables are in the
// checkpoint; after a kill they are those of the last checkpoint.
package order
