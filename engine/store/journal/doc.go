// Package journal is what the crawl has done and can prove: the Store writes the records of an attempt to the archive
// and its Entry to the journal, in this order, and syncs both in groups.
//
// A step of a URL (Steps) is its admission, the return of its Visit, or the writing of its attempt. A checkpoint stops
// all steps, so it sees each URL in exactly one place. Lock order: a step, then the commit lock.
//
// The journal is a chain of files, one for each checkpoint; each begins with the generation and the length of the file
// before it (chain.go). A sync mark in a file says how far the disk has confirmed all files (syncmark.go). Examine
// reads the chain as fsck and resume do. The format is in docs/formats.md; an entry is at most 63 bytes and its links.
//
// What a caller writes is durable after Await returns nil. After a failed sync nothing more is written (Store.Sync).
package journal
