// Package sieve lets each URL through once: Mercator's sieve, with its store on disk, merged in the background.
//
// Fingerprints with a payload each (the URL) are added to a bucket in memory. A flush sorts the bucket, looks its
// fingerprints up in the store in one sweep, puts the new ones into it and emits their payloads in order of arrival.
// Meanwhile producers go on with a second bucket.
//
// It is not a queue (what is emitted is the caller's), knows nothing of URLs, and has no threads of its own: a flush
// is the work of whoever calls Flush.
//
// The picture.
//
//	Add -> [ filling bucket ] --swap--> [ frozen bucket ] --sort, mark, merge, emit--> payloads
//	              ^                          |        ^
//	              +--------- spare <---------+        | look up, and write one new run
//	                                            [ run 0 ][ run 1 ]...[ run n ]   sorted files, oldest and largest first
//
// A flush writes one run: the new keys merged with all younger runs that together have become as large as the next. So
// a key is rewritten about log2(store/bucket) times in its life. Marking reads only blocks in which a key may lie,
// found through the sparse index: with a store so large that a bucket touches few of its blocks, the rest is not read.
//
// The bytes, little-endian. A key is the 80 high bits of a fingerprint (Hi, and 16 bits of Lo).
//
//	run      block... (4096 bytes each) | index: first key of each block, 10 bytes | footer, 64 bytes
//	footer   "OWSIEVE1" | keys u64 | blocks u64 | last key: hi u64, lo u64 | xxh3 of index u64 | 0 u64 | xxh3 of footer u64
//	block    xxh3 of the rest u64 | hi of first key u64 | n u16 | w u8 | 0 u8 | block number u32 |
//	         n x lo u16 | n x low w bits of (hi - first hi), packed | bitmap | zeros
//	bitmap   bit i + ((hi of key i - first hi) >> w) is set for each key i (Elias and Fano's code), w = 64 - log2(keys)
//	pending  "OWSIEVP1" | frame...
//	frame    length of body u32 | records u32 | xxh3 of body, seeded with the 8 bytes before, u64 | body
//	record   hi u64 | lo u16 | uvarint length | payload
//
// The promises:
//
//   - S1: within committed flushes a fingerprint is emitted at most once.
//   - S2: after a flush, every fingerprint added before it is in the store.
//   - S3: the store is strictly ascending: each run is, and no key is in two.
//   - S4: new URLs come out in order of arrival, the earliest payload of a fingerprint wins; through errors and cuts.
//   - S5: a crash may emit a URL twice, never zero times: Open goes back to the Cut, buckets included.
//
// Why 80 bits are enough: with n fingerprints spread evenly the chance that a new one falls upon an old one is n/2^80.
// At 10^10 URLs that is 8x10^-15 for the next URL, and 4x10^-5 URLs wrongly called seen in the whole crawl, where the
// budget is one. 72 bits would lose 0.01, 64 bits 2.7.
//
// Who owns what. Add, Full, WaitRoom, Wake, Pending, Len and Stats are safe for all, at any time but during a Cut
// (Add). Flush has one caller at a time. Cut wants silence: no Add, no Flush; what it writes is only what was added
// since the last. Sync and Release belong to the caller of Cut and may run beside Add and Flush. Payloads are borrowed
// in both directions. After an error of Flush or Cut everything is as before, to be tried again; after an error of
// Sync the sieve refuses everything but Add.
//
// What it costs. Memory: both buckets (a fingerprint takes 16 bytes plus its payload and a byte or two), some 300 KiB
// per run that a flush has open, 0.016 bytes per URL for the sparse index. Disk: 2 bits and a fraction more than the
// least a set of keys needs: 6.5 bytes per URL at 10^9, 6.1 at 10^10; twice that for as long as a merged run is still
// named by a cut. Numbers: sieve_bench_test.go.
package sieve
