// Package network connects this agent with the others of its crawl: membership (engine/peering/membership) and messages
// (engine/peering/transport) behind the one interface that the engine knows (cluster.Network).
//
//	engine --Join, Agents, Changed, Leave--> Network --> membership.Service    which agents are alive
//	       --Send, Ask--------------------->         --> transport.Transport   at the address that membership knows
//	       <--HandleMessage, HandleQuestion-         <--
//
// It carries, and decides nothing, except which agents count: those that have proved their ID by a
// certificate (prover). Open takes the port for messages at once, so that a port in use is an error before a crawl
// begins. An agent that sends messages before Join is told to try again. Join makes the agent known to the others.
// Leave tells them that it stops in order. Close frees ports and connections.
//
// Without an Identity everything is plain text between loopback addresses, and IDs are not proved.
package network
