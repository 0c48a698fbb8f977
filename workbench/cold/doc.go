// Package cold keeps the hosts that a bench has no room for: a key and what was known of it, on disk, found again by the key.
//
// It is not a database: there is no order, no range, no overwriting. A host is put in once and taken out once, and while it
// is in here it is nowhere else. What a host is, it does not know: a form is bytes.
//
// The picture.
//
//	Put(key, form) --> [ tail ] --Flush--> 00000007 ... 00000042        one log, in files of a bounded size
//	      \                                ^ head
//	       +-> table in memory: 26 + 10 bits of the key's hash -> place in the log
//	Take(key) -----^ then one read there; the key on disk decides. What was taken is noted in the log.
//	Collect: reads on from the head, copies what is still in to the tail, and lets go of the rest
//
// The bytes, little-endian.
//
//	file     "OWCOLD\x00\x01" | number u32 | low half of xxh3 of both | record...
//	record   xxh3 of the rest, seeded with the place | length of body u32 | length of key u16 | kind u8 | 0 | body | zeros to 8
//	host     kind 1, body: key | form
//	gone     kind 2, body: hash of the key u64 | file u32, offset u32 and size u32 of the record that does not count any more
//
// A record begins less than SegmentBytes into its file, which it may overrun. A cut is two places in the log, and the number
// and the sum of the hashes of the hosts that are in between them.
//
// The promises:
//
//   - H1: what Take gives is the form that was Put with this very key, or an error; and a key that is not in costs no look at the
//     disk, but for one in some ten million.
//   - H2: a host is in until it is taken, whatever else is put in, taken or collected.
//   - H3: Open goes back to exactly the cut: what was put in after it is not in, what was taken after it is.
//   - H4: the log is never more than twice what is in, and three files, once Collect says that there is nothing to do.
//
// Who owns what. All methods are safe for concurrent use, with two restrictions: the caller sees to it that a key is not put in while it
// is in, and Collect has one caller at a time. Cut touches no file; what it names may be relied on after Sync, and stays until a
// later cut is released. Put and Take write no file: when Buffered has passed BufferBytes it is time for a Flush. A failed Flush may be
// repeated. No lock is held while the disk works, but that Flushes wait for each other.
//
// What it costs. A slot of the table is 8 bytes, and four in five to two in three are in use: 10 to 13 bytes a host. A Put is a copy; a Take is one
// read of 512 bytes, two for a longer form. Open reads the log once, front to back. `orbweaver bench workbench --cold` measures it.
package cold
