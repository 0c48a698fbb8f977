// Package crawllog writes crawl.log: one line for each attempt, in the columns of Heritrix (see Log).
//
// Writing never delays the crawl. Lines are collected in memory, up to 4 MiB, and written by one goroutine (Run). If
// the disk is full or slow, further lines are dropped and counted. A failed write is logged and tried again at the next
// Flush; it never stops the crawl.
//
// At 256 MiB the file is rotated: it is compressed to crawl.log.NNNNN.gz and truncated. The numbers begin at 00000.
package crawllog
