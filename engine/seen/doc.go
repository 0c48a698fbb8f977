// Package seen is the content-seen test: which payloads were stored before, and in which record first.
//
// The digest of a page's payload maps to the first record that has it, so that a page met again becomes a revisit
// record that resolves, and is not parsed a second time.
//
// It is not the test whether a URL is known (that is the sieve), it is exact (no near-duplicates), and it forgets
// nothing but what a cut rolls back.
//
// The picture.
//
//	Insert -> [ filling table ] --full--> [ frozen table ] --Tend: merged step by step, segment by segment--+
//	       \    (hash, offset)                                                                              v
//	        \                                       [ run 0 ][ run 1 ]...[ run n ]   sorted by hash, oldest and largest first
//	         -> [ write buffer ] -> one append-only file of entries; an offset leads to a whole digest, here or there
//
//	Lookup -> tables -> the filter of each run, in memory -> one block of a run that may have it -> the entry
//
// A merge makes one run of the frozen table and all younger runs that are together at least a third of the next. What is merged is found
// in the new run as soon as its segment (one of 256 ranges of hashes) is complete, and the old filters let go of it: nobody
// waits for a merge to end, and there are never two copies of the filters. The index is derived from the entries, and
// checked against them.
//
// The bytes, little-endian. A hash is xxh3 of the digest with the file's seed; a segment is its 8 high bits.
//
//	entries    "OWSEEN02" | seed u64 | xxh3 of both u64 | entry...
//	entry      low half of xxh3 of the rest, seeded with the offset, u32 | uvarint length of URI | digest 20 bytes |
//	           record id 16 bytes | seconds since 1970 i40 | nanoseconds u32 | URI
//	run        block... (1024 bytes) | filter of each segment | directory | footer, 64 bytes
//	block      xxh3 of the rest, seeded with the run's number, u64 | block number u32 | n u32 | n records | zeros
//	record     low 56 bits of hash | offset u40       A segment begins with a block.
//	filter     bitmap: bit i + (hash of record i >> b) is set, b so that there are about as many buckets as records |
//	           the next `width` bits of each hash, packed        Both in words of 64 bits.
//	directory  for each segment: records u32 | width u32 | xxh3 of filter u64
//	footer     "OWSEENR1" | run number u64 | records u64 | blocks u64 | entries from u64 | to u64 | xxh3 of directory |
//	           xxh3 of footer
//
// The promises:
//
//   - N1: Lookup and Insert say "there" of a digest only if the entry with all its 20 bytes was read and its checksum held.
//   - N2: of many Inserts of one digest exactly one is fresh, and all return the same First.
//   - N3: Open goes back to exactly the cut; what lies behind it, whole or torn, is cut off. Damage before it is an error of
//     whoever reads it, and Check reads all.
//   - N4: an Insert that returns an error has changed nothing and may be repeated.
//
// N3 is why a cut is needed and the file alone is not enough: a page that is fetched again after a crash must not look
// like a duplicate of its own lost self, or its links would be lost.
//
// Who owns what. Insert, Lookup, Tend, Len and Stats are safe for all at any time. Cut, Sync, Release and Check have one
// caller at a time; all but Check may run beside the others. Cut touches no file; what it names may be relied on after Sync,
// and the runs it names stay until a later cut is released. There are no goroutines: a merge is the work of whoever calls Tend, in
// steps of some 30 microseconds, as much as is needed to be done before the filling table is full; an Insert that finds it
// full does the rest. No lock is held while the disk works, but for the turn to merge.
//
// What it costs. Filters take 10 to 11 bits a digest, and all together err for one new digest in 128 to 256: the others are
// new without a look at the disk. A digest that is there costs two reads. The two tables take at most a twelfth of MemoryBytes;
// there are no pointers in either; with too little memory the filters err more often. On disk 50 bytes and the URI, and 14 for
// the index, twice that while a merged run is still named by a cut. A digest is written to runs seven or eight times on the way to
// 10^8. Open reads the filters and the entries behind the last run. Numbers: orbweaver bench seen.
package seen
