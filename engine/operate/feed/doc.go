// Package feed tells what is new, changed or gone in an archive since a given moment, in the order in which it was
// stored.
//
//	Feed.Read -> extend: index lines -> earlierStates.add (recent, runs on disk)
//	          -> Archive.EachInOrder from the cursor -> earlierStates.before -> kindOf -> Change
//
// The archive is the truth: a Cursor is a place in it, and a change follows from a capture and the one before of
// the same URL. Nothing is read beyond Growth.StoredEnd, so that nothing that was told is taken back by a crash: what a
// resume cuts lies behind it. So each reader sees each change exactly once, whenever it or the crawl is killed.
//
// earlierStates is a cache of what URLs were, in a directory of its own: 40 bytes on disk for each capture (twice that
// during a merge), at most recentMost in memory, and 12 bytes of memory for 102 on disk. It is made again from the
// archive if it is missing or damaged. A URL is known by 128 bits of its hash, a payload by 62.
//
// Of URLs without an answer the archive knows nothing, so crawl.log is the second source (lost.go). It is read up to
// the last checkpoint: what follows may be cut at a resume. A loss belongs to the last capture before it. It is told if
// no later capture has content. Errors of servers (5xx) and refusals (401, 403, 429) are no change.
//
// The package starts no goroutine.
package feed
