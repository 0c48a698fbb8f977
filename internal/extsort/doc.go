// Package extsort sorts more fingerprints than fit into memory, each with a number, by means of a file.
//
// It is not a store: the file is removed at Close, and no other component may use it. It starts no goroutine.
//
//	Add -> [ buffer ] --full: sort, append--> file: run, run, run ... --Sorted: merge of all--> entries in order
//
// Format: entries of 24 bytes, little-endian: high half, low half, tag. There is no checksum, because the file does not
// outlive its process.
//
// Ownership: one goroutine uses a Sorter. Sorted may be called once, after the last Add. An Entry is a value.
//
// Costs: the memory of the options, for the buffer or the merge. Disk: 24 bytes per entry, none if the buffer holds
// all. Each entry is written once and read once.
package extsort
