// Package virtualize keeps millions of FIFO queues of byte strings in one memory-mapped log: what does not fit on the
// bench. Keys are integers, items are bytes, and neither means anything here.
//
// It is not one long queue (package diskq is) and not a store: an item is taken once, in order.
//
//	Append --> [ buffer: all queues' newest items ] --full, or Cut--> [ log: blocks ] --> Take, Each
//	                                                                      |   ^
//	           [ index: key -> head, tail, counts ] <-- generation file   +---+ Collect
//
// A flush writes each queue's buffered items as one block, so a queue that gets many items has large blocks. Blocks of
// a queue are chained. Segments are preallocated, so that a full disk is met when one is made and nowhere else.
//
// # The bytes
//
// All integers are little-endian. Segment N is the file seg-<N in 8 hex digits>, N > 0:
//
//	| head: 64 | body 0 | body 1 | ... -->   free   <-- ... | slot 1 | slot 0 |
//
//	head: "orbwvs1\n" | number u64 | size u64 | xxh3 of these u64 | zeros
//	slot: key u64 | ordinal of the first item u48, items u16 | next address u64 | body's offset u32 | checksum u32
//	body: [ address at birth u64, if the offset's top bit is set ] | for each item a uvarint of its length, and its bytes
//
// A body ends where the next one begins. An address is segment << 32 | slot; 0 is none. The next address lies in the
// slot of the queue's tail until there is a newer block, and is all that ever changes behind the write position: links
// are dense and far from the bodies, so appending to old queues dirties few pages. The checksum is the low half of the
// xxh3 of the body, seeded with key, ordinal, count and length. The next address is not under it; it must lead to a
// block of the same key with the ordinal that follows.
//
// Generation G is the file idx-<G in 16 hex digits>, written by a Cut:
//
//	"orbwvi1\n" | generation, segments ever, active, ordinal, items, leaky u64 | numbers of the three parts u64 x 3
//	segments:    number | size | slots << 32 | end of bodies | live bytes   u64 x 4
//	relocations: address at birth | address now                             u64 x 2
//	queues:      key | first ordinal | head | tail | items << 32 | offset in head   u64 x 5
//	xxh3 of all this u64
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
//	V1: each queue gives back exactly what it took, in order; after Open(cut), exactly what it had at that Cut.
//	V2: a record is read only if its checksum holds; a torn tail is cut at open, since no cut names it.
//	V3: space is reclaimed only when no live record remains in it, and when no cut that may be gone back to needs it.
//
// # Who owns what
//
// One goroutine owns all but Stats and Sync, which anybody may call. Bytes handed to a callback are borrowed from the
// mapping until it returns. The files belong to the Virtualizer; the directory may be shared. A read error of the disk
// under a mapping is a fault that ends the process: that is the price of mapping.
//
// # What it costs
//
// Memory: 48 bytes for each queue, and 5 to 11 more for finding it; BufferBytes; about 32 for each relocated block of a
// large queue. One descriptor and one mapping for each segment. Disk: 32 bytes for each block, and a length for each
// item; at most 1/LiveRatioMin of what is live, when Collect has come to rest, plus what the last cut holds on to. A
// Cut writes 40 bytes for each queue.
package virtualize
