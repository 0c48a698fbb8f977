// Package dnsres turns names into addresses: a stub resolver with a cache, for a crawler that asks about millions of
// names, many of them dead.
//
// It is not a recursive resolver: it asks upstream servers that are. It makes no connections to web servers, judges no
// address, reads no hosts file and knows no search domains.
//
//	Resolve(name)
//	   |   literal, localhost, .onion, .invalid, bad name: answered at once
//	   v
//	[ cache ]--known, not expired--> Answer
//	   | unknown                  \--being asked--> wait for that question
//	   v
//	[ ask ]  A (and AAAA)  --> aliases followed --> [ Exchanger ] --> upstream servers, in turn
//	              UDP, EDNS0 1232; TCP when truncated
//
// # Answers
//
// A good answer lives as long as the shortest TTL of the records that led to it, clamped to TTLMin..TTLMax. "No such
// name" and "no address" live by the SOA record, clamped to TTLMin..NegativeTTL. Faults of the servers (SERVFAIL,
// REFUSED, time-outs, endless aliases) live FaultMin, doubling with each up to FaultMax, never for ever. While no
// upstream replies at all (Outage) they live OutageAfter and do not double, since they say nothing about the name.
//
// Forgery is made hard by a random id, a random source port and random case in the name; replies to other questions are
// ignored. A server that does not repeat the case is asked again over TCP.
//
// # Names
//
//	1 to 253 bytes, labels of 1 to 63; a dot at the end makes no difference      asked for
//	underscores, hyphens anywhere, labels of digits, xn-- of any kind, .arpa     asked for
//	a last label of digits (and no IPv4 address), any other byte                 ErrName
//	addresses, in brackets or not; but not with a zone                           themselves
//	localhost and what ends in it                                                127.0.0.1 and ::1, which a guard then refuses
//	.onion, .invalid                                                             ErrNotFound, and nobody is asked
//
// # Promises
//
// D1: no answer outlives its clamped TTL; at most one question per name is in flight (one of each type with IPv6).
//
// # Owners
//
// Whoever calls Resolve first for a name asks on behalf of all. If its context ends, one of those who wait takes over.
// The slice in an Answer is shared: nobody changes it.
//
// # Costs
//
// A hit is one look-up under a lock of its own shard. An entry costs about 300 bytes; CacheMax bounds them, and room is
// made by dropping what expires soonest among a few.
package dnsres
