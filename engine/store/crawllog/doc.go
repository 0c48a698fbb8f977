// Package crawllog writes and reads crawl.log: one line for each attempt, and one final line for each URL that has its
// outcome, in the columns of Heritrix. docs/logs.md describes the format, whose version is 3.
//
// Version 1 has a dot in the ninth column, no via, narrower columns, other statuses for some outcomes, and neither the
// annotation prerequisite nor location. Version 2 has no E, X and P in the hops. A log that an earlier version began
// has lines of several; Parse reads all.
//
// Writing never delays the crawl. Lines are collected in memory, up to 4 MiB, and written by one goroutine (Run). If
// the disk is full or slow, further lines are dropped and counted. A failed write is logged and tried again at the next
// Flush; it never stops the crawl.
//
// At 256 MiB the file is rotated: it is compressed to crawl.log.NNNNN.gz and truncated. The numbers begin at 00000.
package crawllog
