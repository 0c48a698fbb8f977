// Package throughput measures the speed of whole crawls with the rig of orbweaver/internal/trial: beside a bare loop
// (Compare), over hours (Soak), by the number of fetchers (Sweep) and of threads (Cores), beside hostile hosts
// (Isolation), and without a network (Frontier).
//
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
