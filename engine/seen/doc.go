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
//	Insert, Lookup -> [ table in memory: (hash, offset) ] -> [ write buffer ] -> one append-only file
//	                                                          an offset leads to a whole digest, here or there
//
// The bytes, little-endian.
//
//	file   "OWSEEN01" | entry...
//	entry  length of body u32 | low half of xxh3 of body u32 | body
//	body   digest 20 bytes | record id 16 bytes | seconds since 1970 i64 | nanoseconds u32 | URI
//
// The promises:
//
//   - N1: Lookup and Insert say "there" of a digest only if the entry with all its 20 bytes was read and its checksum held.
//   - N2: of many Inserts of one digest exactly one is fresh, and all return the same First.
//   - N3: Open goes back to exactly the cut; what lies behind it, whole or torn, is cut off. Damage before it is an error.
//   - N4: an Insert that returns an error has changed nothing.
//
// N3 is why a cut is needed and the file alone is not enough: a page that is fetched again after a crash must not look
// like a duplicate of its own lost self, or its links would be lost.
//
// Who owns what. Insert, Lookup, Len and Stats are safe for all at any time. Cut, Sync and Check have one caller at a
// time and may run beside the others; a Cut has what was inserted before it began, and perhaps some of what came
// during it. No lock is held while the disk works.
//
// What it costs. The table takes 16 bytes a slot and is filled to between 68 and 85 percent: 19 to 24 bytes of memory
// per digest, without pointers, in 256 parts that grow by themselves so that growth never stops the others for long
// nor needs a second copy of the whole. On disk 56 bytes and the URI. A hit costs one read; a new digest none. Open
// reads the file once.
package seen
