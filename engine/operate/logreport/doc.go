// Package logreport makes the reports of a crawl: hosts, status codes, media types, depths, hops, errors, TLS faults,
// missing page requisites and seeds. They are derived from crawl.log alone, so they are right after any number of
// restarts, and of a running crawl.
//
//	a line of the log -> key and numbers of each kind -> tally (memory, then sorted runs on disk) -> rows in order
//	a part of the seeds -> their lines in the log -> rows in the order of the seeds
//
// Write writes them to files, one for each kind, in columns with tabs (docs/logs.md). Make is for one caller, which
// must close its result. Memory is bounded by Options, whatever the length of the log and the number of hosts or seeds.
package logreport
