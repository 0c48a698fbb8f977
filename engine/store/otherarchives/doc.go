// Package otherarchives knows the payloads that archives of other crawls hold (--dedup-from), so that a payload that is
// stored there is not stored again: the crawl writes a revisit record that names the record there.
//
//	Open: index lines of the other archives -> dedup.Map, once for the same indexes
//	Lookup: dedup.Map -> verify: read the record there -> Original
//
// A revisit record must lead to its payload. So if the WARC file lies beside its index, Lookup reads the head of the
// record there, and believes it only if it is a complete response with this payload digest. If only the index is given,
// Lookup believes the index.
//
// The map is that of package dedup: about 11 bits of memory for each digest, and on disk 64 bytes and the URL. It lies
// in the directory of the crawl, and is made again when an index was removed or changed. The record identity in it is
// the place of the record: the number of its WARC file in the list of names, u32, and its offset, u64.
//
// The archives may grow: Refresh reads indexes that were added. So agents with one file system can name each other's
// directories. Each file counts when it is closed.
//
// A Payloads is safe for concurrent use. It starts no goroutine.
package otherarchives
