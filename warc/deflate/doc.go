// Package deflate compresses records to raw DEFLATE streams (RFC 1951) as fast as a crawler needs: one stream per
// record, most of them a few kilobytes, thousands of times a second. Compression is half of the CPU time of a page.
//
// It has one level, the fastest. An Encoder writes no gzip header, because package warc does; a GzipWriter makes a
// whole gzip file of any size. It does not decompress, has no goroutines, and flushes only at the end.
//
//	Append -> [ window: 32 KiB before | block ] --matches--> sequences --code lengths--> [ bits ] -> dst
//
// A block fills the window: 64 KiB for the first and 32 KiB for later ones, which may refer to the 32 KiB before them.
// Matches are found greedily, with a table of the last position of each hash of six bytes; after many bytes without a
// match it searches less often. A sequence is a run of literals and the match after it. Each block gets the shortest of
// three forms: its own codes, fixed codes, or stored. A stored block may be a 64th longer than the others.
//
// docs/adr/0017 explains why this is not the library's compressor. A general compressor searches tables of hundreds of
// kilobytes, and computes optimal code lengths of at most 15 bits. For 16 KiB of a page, and for the 600 bytes of a
// request, both cost more than they gain. Here the table fits into the first-level cache, and code lengths above the
// limit are corrected afterwards.
//
// # Promises
//
//   - Z1: decompressing the output gives the input, for any bytes in any pieces.
//   - Z2: equal bytes give equal streams, whatever was compressed before and in whatever pieces they came.
//   - Z3: a stream is at most 10 bytes longer than its input, plus 5 for each 32 KiB of it.
//
// # Ownership and costs
//
// An Encoder belongs to one goroutine. Append borrows p, and appends to dst as the built-in append does. An Encoder
// takes 300 KiB of memory and allocates only for dst. BenchmarkPack compares it with level 1 of the library.
package deflate
