// Package coding removes content encodings (gzip, deflate, br, zstd) from payloads of an archive.
//
// The decoders of the fetcher (engine/net/fetch/coding) work on whole buffers; these work on streams. Both have one
// rule: a header field is believed only if the first bytes agree. A payload without the encoding is passed on as it is.
// The number of encodings and the memory for a window are bounded. The length of the result is not: the caller must
// bound it.
package coding
