// Package inflate unpacks what servers send packed, raw DEFLATE (RFC 1951), zlib (RFC 1950) and gzip (RFC 1952), from memory to memory. Half of what a
// page of today costs a crawl was this.
//
// It knows no streams: all of the input is there, and all of the output stays, so matches are copied from where they lie and
// nothing is copied twice. It packs nothing; package warc/deflate does.
//
// The picture.
//
//	src --64 bits at a time--> [ bits ] --tables--> literals, matches --> dst
//
// A table is looked up with as many of the next bits as it has, 11 for literals and lengths, 8 for distances; longer words
// lead on to a second table behind the first. An entry says all about a word at once: how long it is, what it stands
// for, how many bits follow it.
//
// The promises:
//
//   - P1: what compress/flate, compress/zlib and compress/gzip unpack comes out the same here, but for P4, and what they refuse is refused.
//   - P2: no input makes it panic, read outside src, or write more than 260 bytes beyond the limit.
//   - P3: whatever is wrong, the bytes before it come out.
//   - P4: the time is linear in the bytes read and written: blocks with codes of their own are bounded in proportion to both (ErrWork).
//
// Who owns what: a Decoder belongs to one goroutine. It borrows src; dst is the caller's, grows as append does, and is
// handed back.
//
// What it costs: 24 KiB of memory for a Decoder; no allocation but what dst needs. BenchmarkGzip, beside the library.
package inflate
