// Package net is a chapter of the engine, without code of its own: it is what goes over the network for one page: a
// connection, a request, a response, and the rules of politeness. It knows neither links nor the frontier.
//
//	fetch       one exchange into one Page, with its content encodings, its proxies and its guard of addresses
//	h2          HTTP/2 under one exchange, rendered as HTTP/1.1
//	politeness  delays, back-off, Retry-After and tries: a table and pure arithmetic
//	robots      rules of a robots.txt (RFC 9309)
//	bandwidth   bytes per second, in all and from each host
//	bodyfile    files for bodies that are too long for memory
//	underway    the exchanges under way: worker, URL, address, start
//	cookie, login, outage  cookie jars; passwords of hosts; faults of the network and of the disk
//
// What moves through it is a Page: the pool, a fetch worker, a parse worker, the archive, and back to the pool.
//
//	fetch.Fetcher.Fetch -> fetch.connection.read -> framing.Framer.Next -> fetch.Page
//
// Promises: B1 (fetch), R1 to R4 (robots).
package net
