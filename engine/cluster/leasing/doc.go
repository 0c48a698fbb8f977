// Package leasing has the leases of IP addresses of one agent among others: which agent grants the leases of an
// address, how requests travel to it, and how this agent answers the requests of others. The rules of a lease are those
// of package addresslease.
//
//	Leases.Acquire -> the granter of the address, by the current view (granters)
//	    this agent:    addresslease.Granter
//	    another agent: Requester -> one question for all requests of a moment -> Leases.HandleQuestion there
//	Leases.Release ends the exchange; Leases.Run renews the leases of exchanges that go on
//
// An address belongs to an agent as if it were a host. An agent that is away for a restart keeps its hosts, but grants
// no leases: its addresses go to the agents that would have them without it.
//
// # Promises
//
// F1 of package addresslease, when granters change: a new granter grants nothing before the leases of the one before
// have ended, and believes exchanges that began under it for a minute. An agent that went by another granter waits
// until the leases of its granter have ended. No agent can reserve an address, or end its lease, without having had it.
//
// # Goroutines
//
// Leases.Run is one; each Requester needs one that calls SendRequests. The package starts none.
package leasing
