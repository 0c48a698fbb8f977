// Package h2 carries one exchange of HTTP/1.1 over a connection that speaks HTTP/2 (RFC 9113), and then the next one.
// Conn takes the bytes of a request of HTTP/1.1 and yields a response of HTTP/1.1. So all limits, deadlines and counts
// of package fetch hold, and archives have the form that their readers know.
//
//	Write: head of a request -> HEADERS (CONTINUATION)
//	Read:  HEADERS, DATA -> "HTTP/1.1 200 OK", fields in the order of the wire, empty line, payload of DATA
//
// The response has no pseudo-headers, no trailers, and no fields of the connection (RFC 9113, section 8.2.2). Names are
// lower-case, as sent. No Content-Length is invented. The end of the stream is io.EOF. Any other end is another error,
// a *Fault if the server's frames are the cause.
//
// There is one stream at a time. Payload goes from the TLS connection to the caller's buffer. A read that times out can
// be repeated: what has come of a frame is kept.
//
// # What a hostile server can cost
//
// A response has at most framesMax frames that bring nothing, and one more per 16 KiB of payload. A block of fields
// has at most continuationsMax CONTINUATION frames and fieldsMax bytes, before and after unpacking. Padding and frame
// headers have bounds as chunks have in package framing. A frame has at most 16 KiB, the dynamic table 4 KiB. A
// server that pushes or uses another stream ends the connection. Nothing is read ahead of the caller, so a server that
// ignores the window gains nothing. All else ends at the deadline.
//
// A Conn belongs to one goroutine and starts none.
package h2
