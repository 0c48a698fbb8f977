// Package inflate decompresses the bodies of web servers, raw DEFLATE (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952),
// from memory to memory. With the library, decompression was half of the CPU time of a page.
//
// It has no streams: the whole input and output are in memory, so matches are copied from the output, and nothing is
// copied twice. It does not compress; package warc/deflate does.
//
//	src --64 bits at a time--> [ bits ] --tables--> literals, matches --> dst
//
// The first bits select an entry of a table: 11 bits for literals and lengths, 8 for distances. Longer words continue
// in a second table. An entry has the length of the word, its meaning, and the number of extra bits.
//
// Promises:
//
//   - Z4: the output equals that of compress/flate, compress/zlib and compress/gzip, except for Z7, and input that they
//     refuse is refused.
//   - Z5: no input makes it panic, read outside src, or write more than 260 bytes beyond the limit.
//   - Z6: the output contains everything before an error.
//   - Z7: the time is linear in the bytes read and written: blocks with their own codes are bounded in proportion to
//     both (ErrWork).
//
// Ownership: a Decoder belongs to one goroutine. It borrows src, and appends to dst as the built-in append does.
//
// Costs: 24 KiB of memory for a Decoder, and allocations only for dst. BenchmarkGzip compares it with the library.
package inflate
