// Package peering is a chapter of the engine: it is how agents find each other, talk, and agree. It knows neither URLs
// nor pages: its values are agents, keys of hosts, addresses and bytes. Its own code is what an agent answers in place
// of an acceptance, which reaches the sender as it is (ErrMalformed, ErrBanned, WaitError), and the limit of what one
// source may open here (SourceLimit).
//
//	membership    which agents are alive (memberlist)
//	transport     calls between agents (gRPC); identity has their certificates
//	ring          consistent hashing: the owner of a key
//	ownership     which agent owns each host, now and recently
//	consensus     votes of a majority (raft)
//	outbox        messages that wait for other agents, on disk
//
// What agents do for a crawl with these is in engine/cluster.
//
//	membership.Service.View -> network.Network.Agents -> ownership.NewView -> ownership.View.OwnerOf
//
// Promises: M1 to M7, O1 to O4, CS1 to CS5, K1 to K4, each in the doc.go of its package.
package peering
