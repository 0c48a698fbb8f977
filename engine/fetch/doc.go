// Package fetch makes one exchange on one connection into one Page: it connects, asks, and keeps what comes back, byte for
// byte, within limits of size and time.
//
// It is not a client: it follows no redirect, tries nothing twice, knows no robots, no politeness and no links, and looks no
// name up. What a site does wrong is an outcome, never an error. Connections are closed after one exchange, unless Options.Keep
// holds them for the next with the same site (RFC 9112, section 9.3): where the body's end is beyond doubt, for a bounded time
// and in bounded number, and never if anything has come over them meanwhile.
//
// # The picture
//
//	Target --> connect --> [CONNECT] --> [TLS] --> write --> head --> body --> close --> Page   (or Keep, which connect asks first)
//	             |                                            |        |
//	         Dialer, which asks Guard                    codec, or   framer: the same bytes end the
//	         about the very address                      lenient     same way however they are cut
//
//	Page.Raw, one buffer lent by the Pool:
//
//	+-------------------- HeadLen --+--------- body as it came ----------+ - - - - - - - - - - - -+
//	| status line, fields, CRLF     | 5 CRLF hello CRLF 0 CRLF CRLF      | payload of a body in     |
//	|                               |   ^^^^^ payload, digested on the way | several chunks, if asked |
//	+-------------------------------+------------------------------------+ - - - - - - - - - - - -+
//
// Interim heads (1xx) are set aside in Page.Interim, line ends before the status line are dropped, bytes after the end of
// the body are not part of it. A response that is not HTTP is kept whole with HeadLen 0.
//
// The head is read by fasthttp's codec on a copy, and by a lenient parser of ours if the codec refuses what browsers
// accept; a fuzz test holds the two to the same meaning. Everything that the archive gets, and every field that Header
// returns, comes from the bytes and not from the codec, which reorders and rewrites.
//
// # Promises
//
//	B1  every Page is in the pool or has one owner; at Close all are home
//
// Besides: Raw is what came over the wire; a body is cut only if a byte was dropped, and Cut says why; Complete means that
// the body ended as its framing says, and only then are there digests; nothing is connected to that the Guard has not
// allowed, and the address it was asked about is the address connected to; a connection that was kept goes to no other site and no
// other address, and a request that gets no byte of an answer there is outcome.Stale and not made again by itself; every wait
// ends with its deadline, and at once with the context.
//
// # Who owns what
//
// A Pool owns all pages and buffers. Get gives a Page, Put takes it; in between exactly one goroutine holds it, and its
// slices end with Put; only Page.Engine outlives it. Fetch borrows Target and Page, Stored takes what it is given. A
// Fetcher belongs to one worker, a Decoder to one parse worker, a Keep to all of them. The package starts no goroutine; the runtime
// starts one to abort a Fetcher when its context ends, and one to close what a Keep has held for too long, for a few instructions.
//
// # What it costs
//
// A Page is about a kilobyte, a Fetcher too; who waits for a connection or an answer holds no buffer (on a socket of a
// Unix; 4 KiB elsewhere). A response starts in an inline buffer (64 KiB) and moves, with one copy, to a larger one when it
// must. Buffers are counted: PoolOptions.BytesMax is all there will be; a body waits for one until the exchange must
// end, and then is cut, as NoMemory. An
// exchange allocates nothing beyond its connection, sets one deadline (two with TLS), and asks the system for nothing but
// that connection, one poll, reads, one write and the close. On Linux the connection is made by hand, in six system calls
// (seven to ports above 1023); package net needs seven, or eight with DialTCP, which binds the local port and so takes it
// from every other connection. Digests are not part of it: Page.Sum computes both at once,
// when the page is at its parse worker.
package fetch
