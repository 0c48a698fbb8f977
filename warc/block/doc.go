// Package block interprets the blocks of WARC records: the head of an HTTP message, its body without chunking, and the
// digests of block and payload.
//
// It does not read files, and it does not know the fields of a record. Package warc does.
//
//	block -- Write --> DigestCheck --> head -- ParseHead --> Head: chunked? --> ChunkScanner --> payload
//
// The payload digest is that of the body without chunking, as the IIPC interprets the standard. Some writers compute it
// with the chunking; a DigestCheck accepts this too, and counts it. Digests with unknown functions are counted.
//
// No bytes make it panic. Invalid chunking ends the payload at that position. Package httphead reads heads, here and in
// engine/net/fetch. So the index of a response is the same, whether it was made during the fetch or from the archive.
//
// All types belong to one goroutine. Write and Next borrow their bytes; the Raw part of a Head is that of its caller. A
// DigestCheck keeps at most a head, and no part of the payload.
package block
