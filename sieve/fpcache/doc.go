// Package fpcache is the fingerprint cache in front of the sieve: a set of recent fingerprints with fixed size and
// approximately LRU replacement. A crawler has recently seen nine of ten links that it discovers. The cache drops these
// before they cost memory of the sieve or a message to another agent. BUbiNG has the same cache in front of its sieve.
//
// It is not a record of all known URLs: it forgets and never grows. "Seen" is certain, because all 128 bits are
// compared; "not seen" means nothing. The package starts no goroutine, and does I/O only in Save and Load.
//
// # Structure
//
// One array of sets without pointers. A set is two cache lines with seven fingerprints:
//
//	line 1   | meta | hi 0 | hi 1 | hi 2 | hi 3 | hi 4 | hi 5 | hi 6 |
//	line 2   | lo 0 | lo 1 | lo 2 | lo 3 | lo 4 | lo 5 | lo 6 |   -  |
//	meta     bit 63: being written | 62..60: ways in use | 48..20: version | 20..0: seven ways of 3 bits, newest first
//
// A fingerprint belongs to one set. A hit makes it the newest of its set. A new fingerprint is inserted after four
// others and replaces the oldest. So the many fingerprints that never occur again use only three of the seven ways. On
// streams of links this gives more hits than exact LRU of the same size.
//
// A lookup without a hit reads only line 1. It takes no lock: it reads meta, the words, and meta again, and repeats if
// meta has changed. A hit on the newest way writes nothing, so workers that find the same popular link do not compete
// for its cache line. Other hits move the way to the front with one compare-and-swap. Put locks its set for a few
// stores.
//
// # Format of a saved cache, little-endian
//
//	header  "OWFPCAC1" | seed u64 | sets u64 | xxh3 of the 24 bytes before, u64
//	frame   up to 8192 sets, each: ways in use and order u64 | 7 hi | 7 lo, then xxh3 of the frame u64
//
// # Promises
//
//   - C1: Seen returns true only for a fingerprint that was Put since the last Reset, with all 128 bits equal.
//   - C2: memory is the size given to New, for any number of Puts.
//   - C3: a saved cache that loads is the one that was saved; damage is an error, never a wrong result.
//
// # Ownership
//
// The cache keeps no buffer of the caller. All methods may be called by any number of goroutines. Save may run with
// others and writes each set as it is at that moment. After a crash, never use a cache that is newer than the restored
// sieve: it would report URLs as seen that the sieve does not contain, and they would be lost.
//
// # Costs
//
// 128 bytes for seven fingerprints (18.3 bytes each), and no allocation after New. See fpcache_bench_test.go.
package fpcache
