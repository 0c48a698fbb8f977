// Package hosts answers what an operator asks about the hosts of a running crawl: which have the longest queues, the
// longest delays or the most errors (List), and what comes next for one host, and why not now (Queues).
//
// Every answer to "why is this not fetched" comes from here: Host.Waits for a site and its address, Why for a queued
// URL, Lister.Paused for all. Package evidence adds what became of a URL that is not queued.
//
// The unit is the site: scheme, host and port. It has a queue, a robots.txt and a delay of its own.
//
//	ctl hosts -> control -> Lister.List  -> workbench.Listing.Views, in slices -> the first of the order
//	ctl queue -> control -> Lister.Queues -> workbench.Site.Items, virtualize.Virtualizer.Peek, in slices
//	a delay and its reason               -> Lister.waits
//
// # Costs
//
// List reads 128 sites under one lock and keeps as many as it answers with, so memory and time under locks do not grow
// with the crawl. It reads all sites in memory: with 10^6 of them a call takes some tenths of a second of one core
// (BenchmarkList). Only one call runs at a time; others wait. Sites on disk are idle. List counts them and does not
// read them; Queues does. Queues reads 4,096 URLs of a queue on disk under one lock.
//
// An answer is as of no single moment: the crawl goes on while it is made.
package hosts
