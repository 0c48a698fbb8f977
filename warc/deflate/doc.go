// Package deflate compresses records to raw DEFLATE streams (RFC 1951) as fast as a crawler needs: one stream per
// record, most of them a few kilobytes, thousands of times a second. Compression is half of the CPU time of a page.
//
// It has one level, the fastest. An Encoder writes no gzip header, because package warc does; a GzipWriter makes a
// whole gzip file of any size. It does not decompress, has no goroutines, and flushes only at the end.
//
//	Append -> [ ring: 32 KiB before | block ] --matches--> tokens --code lengths--> [ bits ] -> dst
//
// A block has 64 KiB, later ones 32 KiB, and may refer to the 32 KiB before it. Matches are found greedily, with a
// table of the last position of each hash of eight bytes; after many bytes without a match it searches less often. They
// have at least eight bytes, because a shorter one costs more time than its literals, and saves little. A token is a
// match, or one or two literals, in a form that needs no branch: mispredicted ones took half of the search. Each block
// gets the shortest of three forms: its own codes, fixed codes, or stored. A stored block may be a 64th longer than the
// others. A sample says so if nearly nothing matches.
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
// takes 410 KiB of memory, a fourth of it for a page, and allocates only for dst. BenchmarkPack compares it with
// level 1 of the library.
package deflate
