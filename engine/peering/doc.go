// Package peering connects this agent with the others of its crawl: membership (engine/cluster/membership) and messages
// (engine/cluster/transport) behind the one interface that the engine knows (engine.Peering).
//
//	engine --Join, Peers, Changed, Leave--> Seat --> membership.Service    which agents are alive
//	       --Send, Ask-------------------->      --> transport.Transport   at the address that membership knows
//	       <--Letter, Answer---------------      <--
//
// It carries and translates, and decides nothing. Open takes the port for messages at once, so that a port in use is an
// error before a crawl begins. An agent that sends messages before Join is told to try again. Join makes the agent
// known to the others. Leave tells them that it leaves. Close closes what Leave has not, and does nothing after it.
//
// Without an Identity everything is plain text between loopback addresses, and names are not proved.
package peering
