// Package cold stores hosts that the workbench has evicted because memory was short. It maps a key to a form, both
// bytes, on disk. It does not interpret the form.
//
// It is not a database: it has no order, no ranges and no overwriting. A host is put in once and taken out once. While
// a host is in this store, no other component has it.
//
// # Structure
//
//	Put(key, form) --> [ tail ] --Flush--> 00000007 ... 00000042        one log, in files of bounded size
//	      \                                ^ head
//	       +-> table in memory: 26 + 10 bits of the key's hash -> position in the log
//	Take(key) -----^ then one read at this position; the key on disk is compared. The removal is written to the log.
//	Collect: reads from the head, copies the hosts that are still in the store to the tail, and drops the rest
//	Walk: reads all hosts in pieces; Collect does nothing meanwhile
//
// Store joins three parts: hosts (the table, and the sums of a checkpoint), recordLog (head, tail, and the records in
// memory) and segments (the files). Its lock guards hosts and recordLog; segments has a lock of its own.
//
// # Format, little-endian
//
//	file     "OWCOLD\x00\x01" | number u32 | low half of xxh3 of both | record...
//	record   xxh3 of the rest, seeded with the position | length of body u32 | length of key u16 | kind u8 | 0 | body
//	         | zeros to a multiple of 8
//	host     kind 1, body: key | form
//	removal  kind 2, body: hash of the key u64 | file u32, offset u32 and size u32 of the record that is now invalid
//
// A record starts at less than SegmentBytes in its file, and may end after that. A Checkpoint is two positions in the
// log, with the number of hosts between them and the sum of their hashes.
//
// # Promises
//
//   - H1: Take returns the form that was Put with the same key, or an error. For an unknown key it reads the disk only
//     about once in ten million calls.
//   - H2: a host stays in the store until it is taken, whatever else is put, taken or collected.
//   - H3: Open restores exactly the checkpoint. Hosts that were put after it are not in the store; hosts that were
//     taken after it are.
//   - H4: if Collect has nothing to do, the log is at most twice the size of the hosts plus three files.
//
// # Ownership and concurrency
//
// Put and Take borrow their arguments. All methods are safe for concurrent use, with two restrictions: the caller must
// not put a key that is in the store, and only one goroutine may call Collect. Checkpoint uses no file. It is durable
// after Sync, and its files stay until a later checkpoint is released. Put and Take write no file; when Buffered
// returns true, the caller must call Flush. After an error Flush can be repeated. No lock is held during disk
// operations, except that Flush calls wait for each other.
//
// # Costs
//
// A slot of the table has 8 bytes, and two thirds to four fifths of the slots are used: 10 to 13 bytes per host. Put
// copies its arguments. Take reads 512 bytes, and reads a second time for a longer form. Open reads the log once from
// start to end. `orbweaver-bench workbench --cold` measures it.
package cold
