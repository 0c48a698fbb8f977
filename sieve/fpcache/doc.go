// Package fpcache is the sieve's porch: a set of recently seen fingerprints, fixed in size and approximately LRU.
//
// Nine links in ten that a crawler finds it has found a moment ago. The cache ends them here, before they cost the
// sieve memory or another agent a message.
//
// It is not a record of what is known: it forgets, on purpose, and never grows. A "yes" is as good as the fingerprint
// (all 128 bits are compared); a "no" means nothing. It does no I/O of its own and starts no goroutine.
//
// The picture. One flat array of sets without pointers, two cache lines to a set, seven fingerprints to a set:
//
//	line 1   | meta | hi 0 | hi 1 | hi 2 | hi 3 | hi 4 | hi 5 | hi 6 |
//	line 2   | lo 0 | lo 1 | lo 2 | lo 3 | lo 4 | lo 5 | lo 6 |   -  |
//
//	meta     bit 63: being written | 62..60: ways in use | 48..20: version | 20..0: seven ways of 3 bits, newest first
//
// A fingerprint belongs to one set. A hit makes it the newest of its set, and the oldest is replaced. A new one does not
// begin as the newest but behind four others, so that the many that are never met again pass through three of the seven
// ways: that beats a true LRU of as many fingerprints on streams of links. A look-up that misses reads line 1 only. It
// takes no lock: it reads meta, the words, and meta again, and starts over if meta has moved. A hit on the newest way
// of a set writes nothing, so workers that all meet the same popular link do not fight for its line; other hits move
// the way to the front with one compare-and-swap. Put locks its set, and only its set, for a few stores.
//
// The bytes of a saved cache (all integers little-endian):
//
//	header  "OWFPCAC1" | seed u64 | sets u64 | xxh3 of the 24 bytes before, u64
//	frame   up to 8192 sets, each: ways in use and order u64 | 7 hi | 7 lo, then xxh3 of the frame u64
//
// The promises:
//
//   - C1: Seen says yes only for a fingerprint that was Put since the last Reset, all 128 bits of it.
//   - C2: memory is what New was asked for, whatever is Put.
//   - C3: a saved cache that loads is the one that was saved; damage is an error, never a wrong yes.
//
// Who owns what: nothing is borrowed or kept; all methods are safe for any number of goroutines, Reset and Save included
// (Save writes each set as it is at that moment). Whoever restores a crawl must never use a cache that is newer than the
// sieve behind it: such a cache would say "seen" of URLs that the sieve has forgotten, and they would be lost.
//
// What it costs: 128 bytes for seven fingerprints (18.3 bytes each), no allocation after New. See fpcache_bench_test.go.
package fpcache
