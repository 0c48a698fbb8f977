// Package framing finds the end of a body of HTTP/1.1: by its length, by its last chunk, or by the end of the
// connection (RFC 9112, section 6).
//
// A Framer gets the bytes as they come, however they are split into reads, and says which of them are payload. It keeps
// no bytes, and belongs to one goroutine.
package framing
