// Package throughput measures a whole crawl: pages a second, CPU time of a page, memory, and where the time goes. The
// demo and all speed benchmarks use it.
//
// One rig (Run) crawls one of two webs with the same options, and measures the same quantities:
//
//	Simulated   [ this process: engine ] --proxy--> [ child: orbweaver sim ] --server log--> judge
//	                     |                                                                     ^
//	                     +--> DIR/warc ------------- read by the child at the end -------------+
//
//	Fabricated  [ this process: engine ] --> responses made in memory, without a socket
//
// The simulated web is a process of its own on loopback. The engine reaches it through a dialer that reaches nothing
// else. Run measures the CPU time of both processes separately, verifies the archive, and returns the judge's verdict.
// The bare loop, which does only what no crawl can do without, runs just before the crawl: other work may share the
// machine, so the ratio of the two counts. CPU profiles of both show where the difference goes.
//
// The fabricated web is a function of its URLs, as in the measurements of BUbiNG without a network. No connection is
// made, and its pages are small. What remains is the cost of the frontier: admission, cache, sieve, ready queue,
// distributor, workbench, virtualizer, Visits, journal and checkpoints, with robots.txt and politeness. Points are
// measured at each power of ten of known URLs.
//
// # The fabricated web
//
// Pages are numbered. Page n links to its ten children 10n+1 ... 10n+10, which no other page links to first, and to ten
// pages that were found before. Eight of the children share a host: links to one host come in bursts, and some hosts
// have more links than others. The crawl finds ten new URLs with every page, and fetches as many as politeness permits.
package throughput
