// Package sieve lets each URL pass once. It is the sieve of Mercator (Heydon and Najork, "Mercator: A Scalable,
// Extensible Web Crawler", 1999) as BUbiNG describes it, with its store on disk and merges in the background.
//
// Add puts fingerprints into a bucket, each with a payload (the URL). The bucket distributes them to drawers by their
// highest bits. A flush sorts one drawer after the other and looks the fingerprints up in the store in one sequential
// pass. It adds the new ones to the store and emits their payloads in order of arrival. Meanwhile producers use a
// second bucket. With a large store a flush needs many fingerprints to be worth its cost. Then payloads are written to
// a file while they wait, and the memory is used for fingerprints.
//
// The package is not a queue: the caller stores what is emitted. It knows nothing about URLs and has no goroutines: the
// caller of Flush does the work.
//
// # Structure
//
//	Add -> [ filling bucket ] --swap--> [ frozen bucket ] --each drawer: sort, look up--> merge, emit --> payloads
//	         | ^ WaitRoom, Snapshot      | ^                            ^               |
//	         v +--------- spare <------------+ |                            |               v one new run
//	      [ pending file ]    [ pending file ]-+                        [ run 0 ][ run 1 ]...[ run n ]
//
// Runs are sorted files; the oldest and largest is first. A flush writes one run. It merges the new keys with all
// younger runs that together are nearly as large as the next older one. So a key is rewritten about
// log2(store/bucket)/2 times in its life. A lookup reads only blocks that may contain a key, found through the sparse
// index. It searches the encoded block without decoding it.
//
// Sieve joins five parts. buckets has the two buckets and the lock that producers share with a flush; a bucket is its
// drawers, its payloads and the liveSet of those that must still be emitted. spiller writes payloads to pending files.
// store has the runs. fileSet creates files and removes them when no checkpoint needs them. flushTotals counts.
//
// # Format, little-endian
//
// A key is the 72 high bits of a fingerprint (Hi, and 8 bits of Lo).
//
//	run      block... (4096 bytes each) | index: first key of each block, 9 bytes | footer, 64 bytes
//	footer   "OWSIEVE2" | keys u64 | blocks u64 | last key: hi u64, lo u64 | xxh3 of index u64 | 0 u64 |
//	         xxh3 of footer u64
//	block    xxh3 of the rest u64 | hi of first key u64 | n u16 | w u8 | 0 u8 | block number u32 |
//	         n x lo u8 | n x low w bits of (hi - first hi), packed | bitmap | zeros
//	bitmap   bit i + ((hi of key i - first hi) >> w) is set for each key i (Elias and Fano's code), w = 64 - log2(keys)
//	pending  "OWSIEVP4" | frame...
//	frame    bytes of records u32 | number of records u32 | xxh3 of records, seeded with the 8 bytes before, u64 |
//	         xxh3 of the 16 bytes before u64 | records
//	record   hi u64 | lo u8 | length of payload uvarint | payload
//	mask     "OWSIEVM1" | payloads u64 | bitmap of those to be emitted, in words u64 | xxh3 of the rest u64
//
// # Promises
//
//   - S1: within committed flushes a fingerprint is emitted at most once.
//   - S2: after a flush, every fingerprint added before it is in the store.
//   - S3: the store is strictly ascending: each run is, and no key is in two runs.
//   - S4: new URLs are emitted in order of arrival, with the earliest payload of a fingerprint. This holds after errors
//     and checkpoints too.
//   - S5: a crash may emit a URL twice, but never loses it: Open restores the checkpoint, including both buckets.
//
// # Why 72 bits are enough
//
// With n evenly spread fingerprints, a new one equals an old one with probability n/2^72. Until there are n
// fingerprints, about n^2/2^73 URLs are wrongly treated as known. At 10^10 URLs this is 2x10^-12 for the next URL and
// 0.01 URLs for the whole crawl; the budget is one URL. 64 bits would lose 2.7 URLs. docs/adr/0012 compares the widths.
//
// # Ownership and concurrency
//
// Add, Full, WaitRoom, Wake, Pending, Len and Stats may be called by any goroutine at any time. Only one goroutine may
// call Flush, and not between Snapshot and the end of Write. Write may run at the same time as Add. Snapshot, Write,
// Sync and Release belong to one goroutine; Sync and Release may run at the same time as Add and Flush. Add and emit
// borrow the payload. After an error of Flush or Write the state is as before, and the call can be repeated. After an
// error of Sync all calls except Add return this error. WaitRoom writes payloads ahead, 256 KiB at a time. Payloads
// that it cannot write stay in memory, and the next Flush returns the error.
//
// # Costs
//
// Memory: both buckets. A fingerprint takes 12 bytes; a payload in memory takes its size and ten or eleven bytes. In
// addition: one bit per fingerprint of a flush, about 320 KiB per open run, at most 900 KiB to sort a drawer, and 0.012
// bytes per URL for the sparse index. Memory stays within this if producers call WaitRoom. Keys that are not spread
// evenly make larger drawers and need more memory to sort.
//
// Files: at most RunsMax runs, one or two per bucket, and one that will be overwritten. The last checkpoint may keep as
// many again.
//
// Disk: 5.6 bytes per URL for 10^9 URLs in one run, some tenths more in several runs. This is 2 bits and a fraction
// above the theoretical minimum. A merged run needs its space as long as a checkpoint names it. With a large store,
// pending URLs of 80 bytes need about five times BucketBytes, and checkpoints may keep as much again.
//
// Time: a flush reads the whole store if its bucket has a key for every eighth block. So the cost of a URL depends on
// store / bucket: give one byte of memory per URL that will be known. Open reads the index and the pending files. For
// numbers see `orbweaver-bench sieve` and sieve_bench_test.go.
package sieve
