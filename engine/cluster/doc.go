// Package cluster is a chapter of the engine, without code of its own: it is what the agents of a crawl do together. It
// uses the means of engine/peering and implements the interfaces of engine/state/cluster.
//
//	agent                follows membership, routes URLs, takes messages within quotas, sends those of the outbox; gives
//	                     sites to their new owners; redirects of a robots.txt to hosts of other agents; exchanges only
//	                     with a majority; wires the packages below
//	network              joins membership and transport
//	message              the forms of all items and questions that agents send each other
//	leave                how an agent leaves permanently
//	leasing              leases of IP addresses
//	recovery             which URLs have an answer; superseded captures
//	payloads             payloads that other agents have stored
//	termination          decides that a crawl of several agents has ended
//
// What moves through it is a message: outbox.Outbox of the sender, transport, the agent, and one of the packages above.
// Promises: PQ1, PQ2, PS1, PS2, F1 to F4, TD1 and TD2, each in the doc.go of its package.
package cluster
