// Package dnsres resolves names to addresses. It is a stub resolver with a cache, for a crawler that asks for millions
// of names, and many of these do not exist.
//
// It is not a recursive resolver: it asks upstream servers that are. It makes no connections to web servers, judges no
// address, and has no search domains: the host of a URL is a whole name, whatever machine reads the archive later.
//
//	Resolve(name)
//	   |   literal, localhost, .onion, .invalid, bad name, name in the hosts file: answered at once
//	   v
//	[ cache ]--known, not expired--> Answer
//	   | unknown                  \--in flight--> wait for that question
//	   v
//	[ ask ]  A (and AAAA)  --> aliases followed --> [ Exchanger ] --> upstream servers, in turn
//	              UDP, EDNS0 1232; TCP when truncated
//
// # Lifetimes
//
// An answer with addresses is valid for the shortest TTL of its records, at least TTLMin and at most TTLMax. "No such
// name" and "no address" are valid for the TTL of the SOA record, at least TTLMin and at most NegativeTTL. Server
// faults (SERVFAIL, REFUSED, time-outs, too many aliases) are valid for FaultMin; each further one doubles this, up to
// FaultMax. While no upstream replies at all (Outage), faults are valid for OutageAfter and do not double, because they
// say nothing about the name. Many names in a row may have broken servers of their own. So a control question is asked
// before failures count as an outage (health.go).
//
// A random id, a random source port and random case of the name make forged replies improbable. Replies to other
// questions are ignored. If a server does not repeat the case, the question is repeated over TCP.
//
// # Source ports
//
// While fewer than 64 questions over UDP are in flight, each has a socket of its own with a random port. With more, a
// socket asks up to 64 questions within 5 s, one at a time, and a question takes a random one of the idle sockets
// (sockets.go). To open and close a socket costs more than a question.
//
// A forger must guess the same as without this: id and port, about 31 bits, and the case, before the reply arrives. A
// socket takes datagrams of its server alone, so to find a port the forger must send it datagrams in the name of the
// server. A socket that gets one that is not the reply is closed after the question. So what the forger learns of a
// port, or puts into its buffer, serves it for one question, which is of an unknown name.
//
// # Lost questions
//
// A question over UDP is sent again, twice at most, when its reply takes longer than TCP would wait for one (RFC 6298).
// Ten replies pay for it, so slow and dead servers are asked little more (resend.go).
//
// # Old name servers
//
// A question has extras that some name servers do not know: EDNS0 and the random case. If a server does not reply, or
// replies with an error, the question is repeated without EDNS0, then without random case (extra.go). What works is
// remembered for the server for a minute. Then one question tries the extra again; each failure doubles the time, up
// to 16 minutes. An extra that has worked with a server is left out only after three failures in a row.
//
// The fall-back costs protection. Without random case a forger must guess only id and port, about 31 bits. Without
// EDNS0 long answers need TCP. An error reply may lack the question; a forged one makes a question fail, and gives no
// address.
//
// With IPv6, a name that has an A answer waits for AAAA for a second at most. If servers drop these questions, AAAA is
// asked only for names without A, for the times above.
//
// # Names that do not exist
//
// The name servers of some networks answer a name that does not exist with an address of their own. CheckHijack asks
// for two random names. The answers are used all the same: real sites may be at that address, too.
//
// # Names
//
//	1 to 253 bytes, labels of 1 to 63; with or without a dot at the end        resolved
//	underscores, hyphens anywhere, labels of digits, xn-- of any kind, .arpa   resolved
//	a last label of digits (and no IPv4 address), any other byte               ErrName
//	addresses, in brackets or not, but without a zone                          themselves
//	localhost and its subdomains                                               127.0.0.1 and ::1; the guard refuses them
//	.onion, .invalid                                                           ErrNotFound, without a question
//	names in the hosts file                                                    their addresses there, valid for TTLMin
//
// # Promises
//
// D1: no answer is used after its TTL (bounded as above); at most one question per name is in flight (one per type with
// IPv6).
//
// # Ownership
//
// The first caller of Resolve for a name asks for all callers. If its context ends, one of the waiting callers asks
// instead. The slice in an Answer is shared; callers must not change it.
//
// # Costs
//
// A name that is not in the cache takes about 70 us of processor time with both families, 3 system calls a question,
// and no goroutine but one for AAAA; bench/results/dns.md has the figures. A lost question holds its caller for some
// 0.2 s, and one without any reply for 5 s. A cache hit is one lookup under the lock of a shard. An entry takes about
// 300 bytes. CacheMax bounds the entries. If the cache is full, the entry that expires first among a few is removed.
package dnsres
