// Package virtualize keeps millions of FIFO queues of byte strings in one memory-mapped log: what does not fit on the
// bench. Keys are integers, items are bytes, and neither means anything here.
//
// It is not one long queue (package diskq is) and not a store: an item is taken once, in order.
//
//	Append --> [ buffer: all queues' newest items ] --half full--> [ log: blocks ] --> Take, Each
//	                     |                                            |   ^
//	           [ index: key -> head, tail, counts ]                   +---+ Collect
//	                     +---- Cut marks, Image.Write writes what changed --> [ index file ]
//
// A block is what the buffer has of one queue, so a queue that gets many items has large blocks. Blocks of a queue are
// chained. Segments are preallocated, so that a full disk is met when one is made and by the index file. A copy-on-write file
// system can meet it at any write to a mapping.
//
// # The bytes
//
// All integers are little-endian. Segment N is the file seg-<N in 8 hex digits>, N > 0:
//
//	| head: 2048 | body 0 | body 1 | ... -->   free   <-- ... | slot 1 | slot 0 |
//
//	head: "orbwvs2\n" | number u64 | size u64 | xxh3 of the head u64 | model: 4 bits for the length of each code | zeros
//	slot: key u64 | ordinal of the first item u48, items u16 | next address u64 | body's offset u32 | checksum u32
//	body: [ address at birth u64, if the offset's top bit is set ] | payload
//
// A payload's first byte says how its items follow: plainly (uvarint length, bytes), or packed into bits, low ones first.
// A packed item is how many bytes it shares with the one before, then characters, each in a prefix code that depends on
// the character before it, copies from anywhere before in the block (length, distance), and an end. The codes' lengths
// are the segment's model; a new model is learned when the number of segments has doubled (docs/adr/0013).
//
// A body ends where the next one begins. An address is segment << 32 | slot; 0 is none. The next address lies in the
// slot of the queue's tail until there is a newer block, and is all that ever changes behind the write position: links
// are dense and far from the bodies, so appending to old queues dirties few pages. The checksum is the low half of the
// xxh3 of the body, seeded with key, ordinal, count and length. The next address is not under it; it must lead to a
// block of the same key with the ordinal that follows.
//
// The index file idx-<G in 16 hex digits> begins with everything at cut G. Each cut after it appends a section with what
// has changed, until these are as long as the first; then a cut begins a new file. A Cut names file, length and checksum:
//
//	section: "orbwvi2\n" | generation, G, checksum of the section before, segments ever, active, ordinal, items, queues,
//	         leaky u64 x 9 | records | 'E' | xxh3 of all this u64
//
//	'S' number, size, slots, end of bodies, live bytes      every segment with live bytes
//	'D' key                                                 a queue that went; others may follow
//	'Q' key, first ordinal, head, tail, items on disk, items in the buffer [ , length, and a payload of these ]
//	'R' address at birth, address now                       a block that Collect moved alone; 0 takes it back
//
// Numbers in records are uvarints, addresses two of them. Later records replace earlier ones.
//
// # Cuts
//
// Cut marks the moment and copies the segments' accounts; no queue is looked at. Whatever is about to change a queue that
// the image owes puts its state aside first, the items in the buffer with it, so no block is written for a cut's sake.
// Write walks the set of changed queues, some ten KB under the lock at a time. An image that fails gives its changes back
// to the next one. Space behind the mark (bodies, slots) is cut off when a cut is gone back to.
//
// # Space
//
// Each segment's live bytes are counted. Collect takes the emptiest segment with less than LiveRatioMin live, and moves
// its live blocks to the end of the log. A queue that is small as a whole becomes one block there. A block of a larger
// one is moved alone, and since the block before it still points to its old address the new one is noted in a
// relocation table, which is saved with the index, so no link that an older cut may follow is ever changed. A block
// found in a segment is live if its queue exists, its ordinals are not taken yet, and it is not an old copy: ordinals
// come from one counter and are never used twice for one key.
//
// # The promises
//
//	V1: each queue gives back exactly what it took, in order; after Open(cut), exactly what it had when that cut was marked.
//	V2: a record is read only if its checksum holds; a torn tail is cut at open, since no cut names it.
//	V3: space is reclaimed only when no live record remains in it, and when no cut that may be gone back to needs it.
//
// # Who owns what
//
// Anybody may call anything at any time; one lock is held for a call, and for small portions of Collect and Write. It is
// not held during I/O, but for making a segment and for what the mapping reads. Callbacks run under it: they must not
// call the Virtualizer, and the bytes are borrowed until they return. The files belong to the Virtualizer; the directory
// may be shared.
//
// # Faults of a mapping
//
// The system reports with a signal that it cannot read or write a mapped page. Inside this package it becomes an error (guard):
// a page that can be read but not written is a full disk, one that cannot be read is ErrMapped. A block is written to free space
// first, then the link to it, then the accounts in memory change, which cannot fail. What leaves the accounts is read before
// anything changes. So a fault leaves each queue as it was, less the items that Take has handed out. Callbacks never get
// bytes of a mapping.
//
// # What it costs
//
// Memory: 48 bytes for each queue, 5 to 11 for finding it, a quarter for knowing what changed, and none of it pointers
// (55 to 65 measured; the place of a queue that went is used again); BufferBytes; 170 KB for each model in use; about 32
// bytes for each relocated block of a large queue. One descriptor and
// one mapping for each segment. Disk: 32 bytes for each block, and 20 to 30 for a path of 60 bytes; for what is live at
// most 1/LiveRatioMin of that, when Collect has come to rest, plus what the last cut holds on to. A cut writes some 20
// bytes for each changed queue, and its items in the buffer.
package virtualize
