// Package extsort sorts more fingerprints than fit in memory, with a number beside each, through one file.
//
// It is not a store: what it holds is gone when it is closed, and the file is for nobody else. It starts no goroutine.
//
// The picture.
//
//	Add -> [ buffer ] --full: sort, append--> file: run, run, run ... --Sorted: merge of all--> entries in order
//
// The bytes: entries of 24 bytes, little-endian: high half, low half, tag. There is no checksum, since the file does not
// outlive the process that wrote it.
//
// Who owns what. One goroutine uses a Sorter. Sorted may be called once, after the last Add; an Entry is a value.
//
// What it costs. Memory: what the options say, for the buffer or for the merge. Disk: 24 bytes an entry, none as long as
// the buffer holds all. Each entry is written once and read once.
package extsort
