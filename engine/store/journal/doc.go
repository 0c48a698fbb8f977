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
//
// # The part dnsrecords
//
// This part stores the answers of name servers in the archive, as Heritrix does.
//
//   - Source resolves a name for the resolver loop; it is the only thing the loop needs to know.
//   - Recorder resolves, and stores each answer as a record of type "response" with a dns: URI. It is used by several
//     goroutines, and writes one record at a time.
//   - Unrecorded is the null implementation: it resolves and stores nothing.
//
// No journal entry names these records. A resume keeps those before the last record that an entry names, and resolves
// the names of the other sites again.
package journal
