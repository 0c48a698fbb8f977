// Package transport carries batches and requests between the agents of a crawl: gRPC with mutual TLS. It does not read
// what they contain.
//
//	Send --Deliver(Batch)--> [ names, ban, Window, memory ] --> Receive: nil when the batch is durable
//	     <------status------                                <--
//	Call --Call(Request)---> [ names, ban, memory         ] --> Respond
//	     <-----Response-----                                <--
//
// The protocol is transportpb/transport.proto. Each batch and each request is a call of its own, with gRPC's deadlines,
// cancellation and statuses.
//
// # What a sender can rely on
//
// Send returns nil when Receive has returned nil at the peer: the batch is durable there. After any other result the
// caller keeps the batch and sends it again. So a batch arrives at least once. A caller that gives a repeated batch its
// old sequence makes the receiver recognise it. While the receiver runs, Receive succeeds once for each of the last 256
// batches of a sender, and never runs twice at once for one batch. The transport repeats nothing itself.
//
// Order: a batch whose Send began after another Send returned nil is received after that other batch. Batches whose
// Sends overlap arrive in any order, and so do batches that are sent again.
//
// # Bounds
//
// A slow peer delays only the Sends to it. Each peer has its own connection in either direction. A sender has at most
// Window batches in flight to a peer. A receiver processes at most Window batches and 8 requests of one sender at once.
// It holds MemoryMax bytes of all, besides one batch of each sender that waits for memory. A call waits for its turn
// before its batch is read: what the peer sends meanwhile fills the window of HTTP/2, 64 KiB per call.
//
// A peer whose machine is lost is noticed while a call is in progress: on Linux after some 9 s by a limit of the kernel
// (TCP_USER_TIMEOUT), elsewhere after 35 s by gRPC's keep-alive. A connection without calls is closed after a minute.
//
// # Identity
//
// Both ends show a certificate of the crawl's authority (package identity), and the name in it is the name that Receive
// gets. Each call also names crawl, sender and receiver, which must agree with the certificate. So in plain text, where
// names are not proved, a connection to a wrong agent is noticed. What is refused is counted and logged by reason, each
// reason at most once in ten seconds. A peer that breaks the protocol is disconnected and banned for BanTime.
//
// Certificates are checked when a connection is made. The generation of each agent's newest certificate is kept across
// restarts (Options.SaveGenerations), and a newer one ends the connections made with an older one. A new connection of
// an agent ends its older one, which may be dead without this end knowing.
//
// In plain text both ends of every connection are on loopback. Addresses are literal: no name server is asked.
//
// # Goroutines
//
// Receive and Respond run in goroutines of gRPC. Close waits for them, and for the server.
package transport
