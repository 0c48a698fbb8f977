// Package dedup implements payload deduplication: it knows which payloads are stored already, and in which record
// first.
//
// It maps the digest of a payload to the first record with it. A page with a known payload becomes a revisit record
// that refers to this record, and is not parsed again. The test is exact (no near-duplicates), and nothing is
// forgotten, except what Open drops after a crash. Whether a URL is known is decided by the sieve, not here.
//
//	Insert -> [ filling table ] --full--> [ frozen table ] --Tend: merged step by step, segment by segment--+
//	       \    (hash, offset)                                                                              v
//	        \                                    [ run 0 ][ run 1 ]...[ run n ]  sorted by hash, oldest and largest first
//	         -> [ write buffer ] -> one append-only file of entries; an offset leads to a whole digest, here or there
//
//	Lookup -> tables -> the filter of each run, in memory -> one block of a run that may have it -> the entry
//
// This is a log-structured merge tree. A merge makes one run of the frozen table and all younger runs that are together
// at least a third of the next one. Merged records are found in the new run as soon as their segment (one of 256 ranges
// of hashes) is complete, and then the old filters of this segment are released. So no caller waits for a whole merge,
// and there are never two copies of all filters. The index is derived from the entries, and checked against them.
//
// The parts: entryLog is the file of entries with its buffer. index maps hashes to offsets: tables has the newest
// pairs, runSet owns the runs and their files, and merge makes a run of both. Map joins log and index, and takes
// Checkpoints.
//
// Format, little-endian. A hash is xxh3 of the digest with the file's seed; a segment is its 8 high bits.
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
// Promises:
//
//   - Y1: Lookup and Insert report a digest as known only if its entry with all 20 bytes was read and its checksum is
//     right.
//   - Y2: of many Inserts of one digest exactly one is fresh, and all return the same First.
//   - Y3: Open restores exactly the Checkpoint; complete or torn data after it is removed. Damage before it is reported
//     by the call that reads it, and Check reads everything.
//   - Y4: an Insert that returns an error has changed nothing and may be repeated.
//
// Y3 needs the Checkpoint, and not the file alone: a page that is fetched again after a crash must not look like a
// duplicate of its own lost record, because its links would be lost.
//
// Concurrency: Insert, Lookup, Tend, Len and Stats may be called at any time by any goroutine. Checkpoint, Sync,
// Release and Check have one caller at a time; all except Check may run beside the others. Checkpoint accesses no file.
// It is durable after Sync, and its runs are kept until a later Checkpoint is released. There are no goroutines: the
// callers of Tend merge, in steps of about 30 microseconds, fast enough to finish before the filling table is full. An
// Insert that finds it full does the rest. No lock is held during disk access, except the one for the merge.
//
// Cost: filters take 10 to 11 bits for each digest. Together they are wrong for one new digest in 128 to 256; the
// others are recognized as new without disk access. A known digest costs two reads. The two tables take at most a
// twelfth of MemoryBytes; neither contains pointers. With too little memory the filters are wrong more often. On disk,
// a digest takes 50 bytes and the URI, and 14 bytes for the index (twice that while a Checkpoint names a merged run). A
// digest is written to runs seven or eight times up to 10^8 digests. Open reads the filters and the entries after the
// last run. Numbers: orbweaver-bench dedup.
package dedup
