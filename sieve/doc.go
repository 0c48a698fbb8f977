// Package sieve lets each URL through once: Mercator's sieve, with its store on disk, merged in the background.
//
// Fingerprints with a payload each (the URL) are added to a bucket, which deals them out to drawers by their highest bits.
// A flush sorts drawer by drawer, looks the fingerprints up in the store in one sweep, puts the new ones into it and emits
// their payloads in order of arrival. Meanwhile producers go on with a second bucket. In a large store a flush pays only
// with many fingerprints: then the payloads go to a file as they wait, and the memory is the fingerprints'.
//
// It is not a queue (what is emitted is the caller's), knows nothing of URLs, and has no threads of its own: a flush
// is the work of whoever calls Flush.
//
// The picture.
//
//	Add -> [ filling bucket ] --swap--> [ frozen bucket ] --each drawer: sort, look up--> merge, emit --> payloads
//	         | ^ WaitRoom, Cut               | ^                            ^               |
//	         v +--------- spare <------------+ |                            |               v one new run
//	      [ pending file ]    [ pending file ]-+                        [ run 0 ][ run 1 ]...[ run n ]
//
// Runs are sorted files, the oldest and largest first.
//
// A flush writes one run: the new keys merged with all younger runs that together have become nearly as large as the next.
// So a key is rewritten about log2(store/bucket)/2 times in its life. Looking up reads only blocks in which a key may lie,
// found through the sparse index, and finds keys in them as they are.
//
// The bytes, little-endian. A key is the 72 high bits of a fingerprint (Hi, and 8 bits of Lo).
//
//	run      block... (4096 bytes each) | index: first key of each block, 9 bytes | footer, 64 bytes
//	footer   "OWSIEVE2" | keys u64 | blocks u64 | last key: hi u64, lo u64 | xxh3 of index u64 | 0 u64 | xxh3 of footer u64
//	block    xxh3 of the rest u64 | hi of first key u64 | n u16 | w u8 | 0 u8 | block number u32 |
//	         n x lo u8 | n x low w bits of (hi - first hi), packed | bitmap | zeros
//	bitmap   bit i + ((hi of key i - first hi) >> w) is set for each key i (Elias and Fano's code), w = 64 - log2(keys)
//	pending  "OWSIEVP4" | frame...
//	frame    bytes of records u32 | number of records u32 | xxh3 of records, seeded with the 8 bytes before, u64 |
//	         xxh3 of the 16 bytes before u64 | records
//	record   hi u64 | lo u8 | length of payload uvarint | payload
//	mask     "OWSIEVM1" | payloads u64 | bitmap of those still to be emitted, in words u64 | xxh3 of the rest u64
//
// The promises:
//
//   - S1: within committed flushes a fingerprint is emitted at most once.
//   - S2: after a flush, every fingerprint added before it is in the store.
//   - S3: the store is strictly ascending: each run is, and no key is in two.
//   - S4: new URLs come out in order of arrival, the earliest payload of a fingerprint wins; through errors and cuts.
//   - S5: a crash may emit a URL twice, never zero times: Open goes back to the Cut, buckets included.
//
// Why 72 bits are enough: with n fingerprints spread evenly the chance that a new one falls upon an old one is n/2^72,
// and n^2/2^73 URLs are wrongly called seen on the way to n. At 10^10 URLs that is 2x10^-12 for the next URL and 0.01 in
// the whole crawl, where the budget is one. 64 bits would lose 2.7; docs/adr/0012 weighs the widths.
//
// Who owns what. Add, Full, WaitRoom, Wake, Pending, Len and Stats are safe for all, at any time. Flush has one caller at
// a time, and none between a Cut and the end of its image's Write, which may run beside Add. Cut, Write, Sync and Release
// belong to one caller; the last two may run beside Add and Flush. Payloads are borrowed in both directions. After an
// error of Flush or Write everything is as before, to be tried again; after an error of Sync the sieve refuses everything
// but Add. Producers write payloads ahead in WaitRoom, 256 KiB in one go; what they cannot write stays in memory, and the
// next Flush returns the error.
//
// What it costs. Memory: both buckets (a fingerprint takes 12 bytes, its payload in memory ten or eleven more than it has);
// beside them a bit for each fingerprint of a flush, some 320 KiB per run that it has open, at most 900 KiB to sort a drawer
// in, and 0.012 bytes per URL for the sparse index. Producers that ask WaitRoom stay within it. (A drawer has its share of
// the bucket because fingerprints are spread evenly; sorting others would take more.) Files: at most RunsMax runs, one or two
// for each bucket, one to be written over, and as many again that only the last cut names. Disk: 2 bits and a fraction more than the least a set of keys needs: 5.6
// bytes per URL at 10^9 in one run, some tenths more in several; twice that for as long as a merged run is still named by a
// cut; and in a large store what waits, some five times BucketBytes for URLs of 80 bytes, of which cuts may hold as much
// again. A flush sweeps the store once its bucket has a key for every eighth block, so what a URL costs depends on store /
// bucket: give a byte of memory for each URL that will be known. Opening reads the index and what was pending.
// Numbers: orbweaver bench sieve, and sieve_bench_test.go.
package sieve
