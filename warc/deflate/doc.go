// Package deflate packs records into raw DEFLATE streams (RFC 1951) as fast as a crawler has them: one stream for each record, most
// of a few kilobytes, made and forgotten thousands of times a second. Half of what a page costs a crawl is this.
//
// It knows one level, the fastest, and writes no gzip around it; package warc does. It unpacks nothing, has no threads, and
// flushes only at the end.
//
// The picture.
//
//	Append -> [ window: 32 KiB behind | block ] --matches--> sequences --code lengths--> [ bits ] -> dst
//
// A block is what fills the window, 64 KiB for the first and 32 KiB for those that follow, which may refer to the 32 KiB
// before them. Matches are found greedily, by a table with the last place of each hash of six bytes; after many bytes
// without a match it looks less often. A sequence is a run of literals and the match behind it. Then the block gets the
// shortest of three forms: codes of its own, fixed codes, or as it is, which may be a 64th longer.
//
// Why its own: docs/adr/0017. A general compressor searches tables of hundreds of kilobytes, and finds the best code lengths of at most
// 15 bits by an exact method; for 16 KiB of a page, and for the 600 bytes of a request, both cost more than they give. Here the
// table fits the first-level cache, and code lengths that come out too long are mended afterwards.
//
// The promises:
//
//   - P1: what comes out unpacks to what went in, for any bytes in any pieces.
//   - P2: the same bytes give the same stream, whatever was packed before and in whatever pieces they came.
//   - P3: a stream is at most 10 bytes longer than what went in, and 5 for each 32 KiB of that.
//
// Who owns what: an Encoder belongs to one goroutine. Append borrows p; dst is the caller's, grows as append does, and is handed
// back.
//
// What it costs: 300 KiB of memory for an Encoder; no allocation but what dst needs. BenchmarkPack, beside the library's level 1.
package deflate
