// Package post carries letters between the agents of a crawl: batches of bytes, of which it knows nothing but their length.
//
//	Send --pack--> [ session: at most Window under way ] ==TLS 1.3, HTTP/2, gRPC==> [ delivery ] --unpack--> Receive
//	     <--nil, or why not------- results, beats <==================================     <---------- nil, or why not
//
// An acknowledgement means durable at the receiver: Send returns nil when the Receive at the other end has. Whatever else it returns, the batch is
// the caller's still, who keeps it and sends it again: so a batch arrives at least once, and perhaps twice. Nothing is repeated here.
//
// # Waiting
//
// Nothing grows with a slow peer. A receiver holds Window batches of each sender and MemoryMax bytes of all; beyond that it does not read, the
// connection fills, and Send waits. Nobody else waits with it: each peer has a connection of its own in either direction. A peer that is gone
// is noticed after nine seconds without a beat, one that cannot be reached fails Send after Patience.
//
// # Who is who
//
// Both ends show a certificate of the crawl's authority (package identity), and the name on it is the name that Receive is told. The hello that
// begins a stream names crawl, sender and receiver, so that one that was recorded elsewhere is of no use, and the versions of the protocol that
// its speaker knows: the highest that both know is spoken. Whoever is refused is counted by reason (Stats), and said to the log now and then. A
// peer that breaks the protocol loses its connection and is banned for BanTime.
//
// Certificates are looked at when a connection is made: one that ends, or is replaced, while a connection lasts ends with it, or when its
// agent connects with a newer one. The generation of each agent's newest
// certificate is kept across restarts (Options.SaveGenerations), and a newer one ends the connections made with an older one.
//
// In plain text everybody is who it says. Both ends of every connection are then on loopback, which is looked at where a connection is made and
// where it is taken. Addresses are literal: nothing here asks a name server.
//
// # Frames
//
// gRPC carries frames of our own (frame.go) through a codec that hands bytes through, with a description of the service that is written by
// hand: docs/adr/0026-letters.md says why.
//
// # Goroutines
//
// A session has two and a delivery three, and one for each letter that is being received; gRPC has its own. Close waits for all of ours, for
// each Receive and Answer, and for those of the server.
package post
