// Package diskq is one FIFO of byte strings on disk: the ready queue of a crawl, and what other agents sent.
//
// It is not many queues (package virtualize is) and not a log for ever: what was read and released is deleted. It has
// no order but first in, first out.
//
//	Append --> [ building block ] --full, or Cut--> segment files --> [ reading block ] --> Read
//	                   |                                                                     ^
//	                   +------------- when the reader has caught up: past the disk ----------+
//
// # The bytes
//
// Segment N is the file q-<N in 16 hex digits>. All integers are little-endian.
//
//	segment:  "orbwdq1\n" | number u64 | block | block | ...
//	block:    length u32 | items u32 | checksum u32 | payload of length bytes
//	payload:  for each item a uvarint of its length, and its bytes
//
// The checksum is the low half of the xxh3 of the payload, seeded with segment, offset, length and count, so a block
// that was torn, or belongs elsewhere, does not pass. A block lies in one segment. A segment takes no further block
// when it has reached SegmentBytes; only a block of a single large item can make it longer than that.
//
// # The promises
//
//	Q1: items come out in the order they went in, each once, whether they went through memory or disk.
//	Q2: Open(cut) gives back exactly the items that were unread at that Cut; what came later does not exist.
//	Q3: no file that an unreleased cut needs is removed; what lies before the released cut is.
//	Q4: an Append that fails has not happened and spoils nothing; after a full disk it may be tried again.
//
// What is appended and read between two cuts may never touch the disk: a rollback to the first does not know it, and
// for the second it is gone.
//
// # Who owns what
//
// One writer and one reader goroutine, and one more for Cut, Sync and Release, may use a Queue at the same time. A
// short lock guards the state; while one call does I/O the others wait on a condition, not on the lock, except that
// Sync and Release let everybody pass while the disk works. The files belong to the Queue; the directory may be shared.
//
// # What it costs
//
// Memory: two blocks of 64 KiB, more while an item is larger than that. Disk: two bytes or so for each item and 12 for
// each block. One write for each 64 KiB appended and one read for each 64 KiB read.
package diskq
