// Package agents measures several agents that share one crawl: N programs `orbweaver crawl` as processes on loopback,
// against one simulated web in a process of its own, judged from outside.
//
// It is not a crawler and knows nothing of how agents find each other: it gives them addresses, kills them, and reads
// what they leave behind.
//
//	plan --> fleet: a1 ... aN, each with a directory, two ports and a file for its output
//	           |  one goroutine waits for each process; all else happens in one loop: exits, faults, the deadline
//	           +--> the web: its log has all requests, its judge compares the union of the archives with the truth
//
//	Measure -> Options.plans -> measure -> newNetwork, newFleet -> fleet.run -> fleet.step (faults) -> fleet.result
//	  -> Run.judge -> fleet.audit, fleet.fsck
//
// What is measured, as in the UbiCrawler papers (Boldi, Codenotti, Santini, Vigna; Software: Practice and Experience
// 34(8), 2004, section 6):
//
//	coverage   pages held by some agent, of those of the truth
//	overlap    (n-u)/u with n requests that got a final answer, or asked for a URL that had one, and u different URLs:
//	           from the web's log, so the pages that an agent lost with its disk count as well
//	held       the same with n pages in the archives that are left, and u different ones
//	e/n        URLs that agents sent each other, for each page; as the agents themselves report it
//	at least   the least e if no agent knows what another knows: from the truth and the owner of each host
//	lambda     different URLs of other hosts on a page, mean of all pages: from the truth
//	work       pages a second for each agent and each fetch worker (their Figure 3), and CPU time a page, which says
//	           more on one machine
//
// In a partition the agents live in network namespaces of their own (bench/netns), each with the web on its loopback:
// one process that listens in all of them, so that there is one log, and no request crosses the partition. The judge
// reads that log three times: of all agents, and of those of each side; up to the partition, until the sides have found
// each other, and to the end.
//
// Two controls separate the cost of several agents from that of a small web and a full machine. With Options.Grow each
// agent has as much to do in each run. With Options.Isolated as many agents do the same work and know nothing of each
// other.
//
// CPU time is that of the agents' processes from start to end, all lives together, as the system counts it. Where
// delays limit a crawl, as they do in each run with faults, its pages a second say nothing.
//
// Ownership: Measure starts and ends all processes, and none outlives it; they are ended by their own number. Files lie
// in Options.Dir, a folder for each run; the caller removes them.
package agents
