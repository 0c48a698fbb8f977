// Package fetch makes one HTTP exchange on one connection into one Page. It connects, sends the request, and stores the
// response byte for byte, within limits of size and time (HTTP/1.1: RFC 9110, RFC 9112).
//
// It follows no redirects, retries nothing, resolves no names, and knows nothing of robots.txt, politeness or links. A
// fault of a site is an outcome, never an error. A connection is closed after the exchange, unless Options.Keep stores
// it for the next exchange with the same site (RFC 9112, section 9.3). It does so only if the end of the body is
// certain. Persistent connections are limited in number and time, and are closed if unexpected bytes arrive. A new
// connection resumes the TLS session of an earlier one, if Sessions has it.
//
// # Data flow
//
//	Target --> connect --> [CONNECT] --> [TLS] --> write --> head --> body --> close --> Page   (or IdleConns)
//	             |                                            |        |
//	         Dialer, which asks Guard                    codec, or  framing: finds the end of the body,
//	         about the address                           lenient     independent of packet boundaries
//
// The types follow this order. Fetcher.Fetch asks the connector for a connection, new or of IdleConns; its handshaker
// does TLS. Then it writes the request, and headReader and bodyReader read the response from the connection. bodyScan
// finds out what the bytes of the body mean; Restorer uses it too, for responses from an archive. At the end, the
// connector stores or closes the connection.
//
//	Page.Raw, one buffer of the Pool:
//
//	+-------------------- HeadLen --+--------- body as received ---------+ - - - - - - - - - - - -+
//	| status line, fields, CRLF     | 5 CRLF hello CRLF 0 CRLF CRLF      | payload of a body in     |
//	|                               |   ^^^^^ payload, digested          | several chunks, if asked |
//	+-------------------------------+------------------------------------+ - - - - - - - - - - - -+
//
// Interim heads (1xx) are stored in Page.Interim. Line ends before the status line and bytes after the end of the body
// are dropped. A response that is not HTTP is stored whole, with HeadLen 0.
//
// An answer that a proxy or another gateway gave in place of the server is dropped; Page.Connection.Way says what it
// means (package gateway).
//
// fasthttp's parser reads the head on a copy. If it refuses a head that browsers accept, package httphead reads it; a
// fuzz test checks that both agree. The archive and Head use the received bytes, and not the parser's result.
//
// # Promises
//
//	B1  every Page is in the pool or has one owner; at Close all are in the pool
//
// Also:
//
//   - Raw has the bytes as received, or what package h2 makes of HTTP/2. A body is truncated only if a byte was
//     dropped, and Truncation says why.
//   - Complete means that the body ended as its framing says; only then there are digests.
//   - A connection goes only to an address that the Guard has allowed, and to exactly that address.
//   - A persistent connection is used only for the same site and address. A request that gets no byte of a response
//     there has the outcome Stale and is not repeated.
//   - Every wait ends at its deadline, and at once when the context ends.
//
// # Ownership
//
// A Pool owns all pages and buffers. Get gives a Page, Put takes it back; in between, exactly one goroutine holds it.
// Its slices are invalid after Put; only Page.Engine stays. Fetch borrows Target and Page, Stored takes its arguments.
// A Fetcher belongs to one worker, a Decoder to one parse worker; IdleConns and Sessions
// belong to all. The package starts no goroutine.
// The runtime starts short ones: to abort a Fetcher when its context ends, and to close expired connections.
//
// # Cost
//
// A Page and a Fetcher take about 1 KiB each. A worker that waits for a connection or a response holds no buffer (on
// Unix sockets; 4 KiB elsewhere). A response starts in an inline buffer (64 KiB) and is copied once to a larger one if
// necessary. PoolOptions.BytesMax limits all buffers. A body waits for a buffer until the exchange must end, and is
// then truncated (NoMemory).
//
// A response that fills the largest buffer continues in a body file (restWriter; package bodyfile). Raw is its start
// then, and Page.Rest the rest. The page gives the large buffer back and keeps an inline one, for the way to the file.
// Digests are computed on the way. The first SearchMax bytes are what Payload returns; a Restorer keeps as many.
//
// An exchange allocates nothing except its connection, and sets one deadline (two with TLS). Its system calls are the
// connection, one poll, reads, one write and the close. On Linux the connection takes six system calls (seven to ports
// above 1023); package net needs seven or eight. Page.Sum computes both digests later, in the parse worker.
//
// # The part headerline
//
// This part reads the lines that an operator adds to the head of all requests, and refuses those that are not
// the operator's to set.
//
// # The part gateway
//
// This part tells an answer that a proxy or another gateway gave in place of a server from the server's own. It
// needs evidence that only a gateway gives, or that a server gives to its own harm alone. See
// docs/adr/0063-the-way-is-not-the-server.md.
package fetch
