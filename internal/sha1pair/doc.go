// Package sha1pair computes the SHA-1 of two messages at once.
//
// An exchange in an archive has two digests over nearly the same bytes: that of the block (head and body) and that of
// the payload. SHA-1 is a chain, each round waiting for the one before, so a processor with instructions for it is idle
// most of the time; the chain of the other message fits into the gaps. On amd64 with these instructions two digests
// take little more than half of the time of one after the other; everywhere else the library computes both. What does
// not fill a block is the library's everywhere.
//
// A Hasher belongs to one goroutine and keeps nothing of the messages.
package sha1pair
