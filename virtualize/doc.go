// Package virtualize stores millions of FIFO queues of byte strings in one memory-mapped log. It holds the queued URLs
// of sites that do not fit into the workbench, like the virtualizer of BUbiNG. Keys are integers and items are bytes;
// the package interprets neither.
//
// It is not a single long queue: that is package diskq. It is not a general store: an item is taken once, in order.
//
//	Append --> [ buffer: all queues' newest items ] --half full--> [ log: blocks ] --> Take, Each
//	                     |                                            |   ^
//	           [ index: key -> head, tail, counts ]                   +---+ Collect
//	                     +---- Snapshot, then Write of what changed --> [ index file ]
//
// A block contains the items of one queue from the buffer, so a queue that gets many items has large blocks. The blocks
// of a queue form a chain. Space for a segment is allocated when it is created. So only the creation of a segment and
// writes to the index file report a full disk. On a copy-on-write file system any write to a mapping can report it.
//
// # Format
//
// All integers are little-endian. Segment N is the file seg-<N in 8 hex digits>, N > 0:
//
//	| head: 2048 | body 0 | body 1 | ... -->   free   <-- ... | slot 1 | slot 0 |
//
//	head: "orbwvs2\n" | number u64 | size u64 | xxh3 of the head u64 | model: 4 bits for the length of each code | zeros
//	slot: key u64 | ordinal of the first item u48, items u16 | next address u64 | body's offset u32 | checksum u32
//	body: [ original address u64, if the offset's top bit is set ] | payload
//
// The first byte of a payload tells how its items are encoded: plain (uvarint length, bytes), or packed into bits, low
// bits first. A packed item starts with the number of bytes that it shares with the item before. Then follow
// characters, each in a prefix code that depends on the character before it. Copies from earlier in the block (length,
// distance) and an end symbol are also possible. The lengths of the codes are the model of the segment. A new model is
// computed when the number of segments has doubled (docs/adr/0013).
//
// A body ends where the next one starts. An address is segment << 32 | slot; 0 means none. The next address is in the
// slot of the queue's last block until there is a newer block. Nothing else changes before the write position. Slots
// are dense and apart from the bodies, so appending to old queues changes few pages. The checksum is the low half of
// the xxh3 of the body, seeded with key, ordinal, count and length. It does not cover the next address, which must lead
// to a block of the same key with the ordinal that follows.
//
// The index file idx-<G in 16 hex digits> starts with the complete snapshot of generation G. Each later snapshot
// appends a section with the changes, until these are as long as the first section; then a new file starts. A
// Checkpoint names file, length and checksum:
//
//	section: "orbwvi2\n" | generation, G, checksum of the section before, segments ever, active, ordinal, items, queues,
//	         leaky u64 x 9 | records | 'E' | xxh3 of all this u64
//
//	'S' number, size, slots, end of bodies, live bytes      every segment with live bytes
//	'D' key                                                 a deleted queue; the key may occur again later
//	'Q' key, first ordinal, head, tail, items on disk, items in the buffer [ , length, and a payload of these ]
//	'R' original address, current address                   a block that Collect moved alone; 0 cancels the entry
//
// Numbers in records are uvarints; an address is two of them. Later records replace earlier ones.
//
// # Snapshots
//
// Snapshot copies only the counters of the segments. Before a queue changes that the snapshot must contain, its state
// is copied, including its items in the buffer. So a snapshot writes no blocks. Write processes the set of changed
// queues, about ten KB under the lock at a time. After a failed write the next snapshot contains the same changes. Open
// removes bodies and slots that were written after the checkpoint.
//
// # Space
//
// Each segment counts its live bytes. Collect selects the segment with the fewest live bytes, if these are less than
// LiveRatioMin, and moves its live blocks to the end of the log. A small queue becomes one block there. A block of a
// larger queue is moved alone. The block before it still has the original address, so the new one is stored in a
// relocation table, which is saved with the index. So no link that an older checkpoint needs is changed. A block is
// live if its queue exists, its ordinals are not yet taken, and it is not an old copy. Ordinals come from one counter
// and are never used twice for a key.
//
// # Reading ahead
//
// A log that exceeds the memory costs two reads of the disk for a block, of its slot and its body. ReadAhead asks for
// those of many queues before they are taken (MADV_WILLNEED), because disks answer many reads at once.
//
// # Promises
//
//	V1: each queue returns its items in order; after Open(checkpoint), exactly those of the moment of the snapshot.
//	V2: a record is read only if its checksum is right; Open truncates a torn tail, since no checkpoint names it.
//	V3: space is reclaimed only if it has no live record, and if no checkpoint that may still be opened needs it.
//
// # Parts
//
//	Virtualizer    the calls, the lock, and the error that stops it
//	queues         index, buffer and log: all operations on items; records every change for snapshots
//	index          key -> entry: head, tail and counts of a queue
//	buffer         the newest items of all queues
//	blockLog       reads and writes blocks; packs and verifies them
//	segmentList    the files, the addresses of blocks, and the live bytes
//	relocations    the current addresses of blocks that were moved alone
//	codebook       the codes of all models in use
//	collector      empties segments with few live bytes
//	changes, image what the next snapshot must contain; what the open one must still copy
//	checkpoints    which checkpoints may still be opened, and what a Sync must make durable
//	Snapshot       writes a section of the index file; the loader reads it
//	checker        compares the accounts with what the queues reach
//
// The queues know neither collector, checkpoints nor snapshots.
//
// # Ownership and concurrency
//
// All methods may be called by any goroutine at any time. One lock is held during a call, but only for small portions
// of Collect and Write. It is not held during I/O, except to create a segment and for reads of the mapping. Callbacks
// run under the lock. They must not call the Virtualizer, and they borrow the bytes. The files belong to the
// Virtualizer; the directory may contain other files.
//
// # Faults of a mapping
//
// If the system cannot read or write a mapped page, it sends a signal. guard makes an error of it. A page that can be
// read but not written means a full disk; a page that cannot be read is ErrMapped. A block is first written to free
// space, then the link to it, then the counters in memory, which cannot fail. Everything that a call needs is read
// before it changes anything. So after a fault each queue is unchanged, except for items that Take has already passed
// to emit. Callbacks get copies, never bytes of a mapping.
//
// # Costs
//
// Memory without pointers: 48 bytes per queue, 5 to 11 for the index, and a quarter byte for the set of changes; 55 to
// 65 bytes measured. The entry of a deleted queue is reused. In addition: BufferBytes, 170 KB per model in use, and
// about 32 bytes per relocated block. One mapping per segment. Disk: 32 bytes per block and 20 to 30 bytes for a path
// of 60 bytes. When Collect returns 0, the log is at most 1/LiveRatioMin of the live bytes, plus what the last
// checkpoint needs. A snapshot writes about 20 bytes per changed queue, and its items in the buffer.
package virtualize
