// Package frontier measures the whole frontier without sockets: the real engine fetches fabricated responses from a web
// that is a function of its URLs and lives in memory, as the authors of BUbiNG measured theirs.
//
// It is not a measure of a crawl (package vitro is): no connection is made, no record written, and the pages are small.
// What is left is what the frontier costs: door, cache, sieve, ready queue, distributor, workbench, virtualizer, visits,
// journal and checkpoints, with robots.txt and politeness as always.
//
// # The web
//
// Pages are numbered; page n links to its ten children 10n+1 ... 10n+10, which nobody else found before, and to as many
// pages that were found before. Eight of the children share a host, so links come in bursts of one host, and some hosts
// are met more often than others. The crawl finds ten new URLs with every page, and fetches what politeness lets it.
package frontier
