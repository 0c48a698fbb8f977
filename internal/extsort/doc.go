// Package extsort sorts more lines, or fingerprints with numbers, than fit into memory: in sorted runs of a file.
//
// It is not a store: the file is removed at Close, and no other component may use it. It starts no goroutine.
//
//	Lines.Add -> [ buffer ] --full: sort, append--> Scratch: run, run, run ...
//	                                                   | Lines.View
//	                                                   v
//	             View.Open(from, to) -> Merge of the runs and the buffer -> lines of the range, in order
//	Sorter.Add: an Entry as a line of 24 bytes
//
// Format of a run: the length of each line as a varint, then its bytes. There is no checksum, because the file does not
// outlive its process. Every 64 KiB the first line is in memory, so that a range begins near its place.
//
// Ownership: one goroutine at a time adds to the Lines of a Scratch. A View does not change when lines are added, and
// may be read by several goroutines.
//
// Costs: the memory of the options. Each line in the buffer takes 16 bytes of it. Disk: the lines, if the buffer
// does not hold all. Each line is written once, and read once for each range that has it.
package extsort
