// Package frontier is a chapter of the engine, without code of its own: it decides which URL is fetched next.
//
//	admission  which discovered URLs enter the crawl; the seeds
//	links      the links of a page, within a budget
//	mining     URLs that no page may link to: --mine
//	order      which ready URLs come to their sites first: --visit
//	sites      a site by its key, in the workbench or on disk
//	schedule   sieve -> ready queue -> workbench or disk -> fetch workers, and back
//	ending     when a crawl stops as stalled; why it has ended, or what it waits for
//
// What moves through it is a URL.
//
//	links.Finder -> admission.Frontier.Add -> sieve.Sieve.Add -> schedule.Flusher -> schedule.Distributor
//	-> workbench.Workbench.Push -> schedule.Feeder -> fetch workers -> schedule.Returner -> workbench.Workbench.Release
//
// Promise: E1 of package engine, conservation of URLs.
package frontier
