// Package store is a chapter of the engine, without code of its own: it is what a crawl writes while it runs, apart
// from its queues: nothing of a finished page is lost.
//
//	journal        WARC files, one journal entry for each finished attempt, group commit; the steps; DNS answers
//	manifest       the file that names all files of a checkpoint
//	crawllog       lines of crawl.log, written and read
//	recrawl        conditional requests after an earlier crawl
//	otherarchives  payloads of other crawls, for deduplication
//	receipts       which files a receiver has
//
//	journal.Store.Write -> journal.Store.Sync: durable
//
// docs/what-survives-what.md says what a fault of the process, the system or the disk can cost.
package store
