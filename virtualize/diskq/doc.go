// Package diskq is a FIFO queue of byte strings on disk. A crawl uses it as the ready queue, and for messages to other
// agents.
//
// It is not a set of many queues: that is package virtualize. It is not a permanent log: items that were read and
// released are deleted. The only order is first in, first out.
//
//	Append --> [ building block ] --full, or Checkpoint--> segment files --> [ reading block ] --> Read
//	                   |                                                            ^
//	                   +---------- when the reader has read all files: no disk -----+
//
// A Queue joins writer (the building block and the last segments), reader (the reading block) and callLock (which call
// may use them). directory opens and creates the segment files.
//
// # Format
//
// Segment N is the file q-<N in 16 hex digits>. All integers are little-endian.
//
//	segment:  "orbwdq1\n" | number u64 | block | block | ...
//	block:    length u32 | items u32 | checksum u32 | payload of length bytes
//	payload:  for each item a uvarint of its length, and its bytes
//
// The checksum is the low half of the xxh3 of the payload, seeded with segment, offset, length and count. So a torn
// block, or a block of another position, is detected. A block is in one segment. A segment that has reached
// SegmentBytes gets no further block. Only a block with a single large item can make it longer.
//
// # Promises
//
//	Q1: items come out in the order of Append, each once, through memory or disk.
//	Q2: Open(checkpoint) restores exactly the items that were unread at that checkpoint, and no later ones.
//	Q3: files that an unreleased checkpoint needs are not removed; files before a released checkpoint are.
//	Q4: an Append with an error has changed nothing; after a full disk it may be repeated.
//
// Items that are appended and read between two checkpoints may never be written to disk: neither checkpoint contains
// them.
//
// # Ownership and concurrency
//
// One writer goroutine, one reader goroutine and one for Checkpoint, Sync and Release may use a Queue at the same time.
// A short lock guards the state. While one call does I/O, the others wait on a condition. Sync and Release let other
// calls continue while the disk works. The files belong to the Queue; the directory may contain other files.
//
// # Costs
//
// Memory: two blocks of 64 KiB, more for a larger item. Disk: about two bytes per item and 12 per block. One write for
// each 64 KiB appended and one read for each 64 KiB read.
package diskq
