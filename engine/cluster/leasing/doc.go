// Package leasing has the leases of IP addresses of one agent among others: which agent grants the leases of an
// address, how requests travel to it, and how this agent answers the requests of others. The rules of a lease are those
// of the second part.
//
//	Leases.Acquire -> the granter of the address, by the current view (granters)
//	    this agent:    Granter
//	    another agent: Requester -> one question for all requests of a moment -> Leases.HandleQuestion there
//	Leases.Release ends the exchange; Leases.Run renews the leases of exchanges that go on
//
// An address belongs to an agent as if it were a host. An agent that is away for a restart keeps its hosts, but grants
// no leases: its addresses go to the agents that would have them without it.
//
// # Promises
//
// F1, when granters change: a new granter grants nothing before the leases of the one before
// have ended, and believes exchanges that began under it for a minute. An agent that went by another granter waits
// until the leases of its granter have ended. No agent can reserve an address, or end its lease, without having had it.
//
// # Goroutines
//
// Leases.Run is one; each Requester needs one that calls SendRequests. The package starts none.
//
// # The part addresslease
//
// This part keeps the delay of an IP address if its hosts belong to several agents. An agent contacts such
// an address only while it has a lease, and at most one agent has one at any time.
//
// The package knows agents by name only. It sends nothing and starts no goroutines. Which agent grants the leases of an
// address, and how requests and responses travel, is decided by its user.
//
//	agent                                     agent that grants the leases of the address
//	Holder  --- Acquire, Renew, Release --->  Granter
//	        <-- Response: granted until T,    for each address: leaseholder, end of the lease,
//	            or retry at T                 earliest next exchange, queue of waiting agents
//
// A lease is for a time, not for one request. If no other agent wants the address, it is for UncontestedTerm, so that a
// page costs no message. If other agents wait, it is a slot of about eight delays. It ends without a message. If an
// exchange continues at its end, the holder renews it. If no response arrives in time, the holder aborts the exchange.
// A refused agent learns when to retry, and its place in the queue is kept for a while after that time.
//
// # Promises
//
//   - F1: two exchanges with an address, of any agents, never overlap, and between them is at least the delay. This
//     holds if requests or responses are late or lost, and with any wall clocks, as long as all agents use the same
//     granter.
//   - F2: an exchange that takes long is renewed even if other agents wait, for at most an hour.
//   - F3: an agent that waits gets the address in turn. An agent that does not retry in time loses its turn, and
//     delays the other agents by a second at most.
//   - F4: memory is bounded: a Granter has at most 2^20 addresses, and one agent can cause an eighth of them. Granter
//     and Holder forget entries that have expired.
//
// F1 follows from the way times are counted. The agent counts the term from when it sent the request, the granter from
// when it sent the response. So the agent's end is never later than the granter's. The next lease of another agent
// begins after the granter's end plus the delay, or after the pause that the agent sent with Release.
//
// If the granter of an address changes, the user passes a time to the new one before which it grants nothing. Exchanges
// that continue are told to the new granter and to the previous one (Holder.ChangeGranters), which may not know of the
// change. If the previous one may act by an older view and cannot be reached, that is not enough. Then the lease is not
// renewed (Holder.FinishLeases), and the new granter grants nothing before it has ended: see package consensus.
//
// # Units and limits
//
// Times in requests and responses are durations of at most an hour, sent in milliseconds. A request takes some 20
// bytes, an address about 200 bytes of memory. A full Granter refuses further addresses, and asks to retry in 5 s.
package leasing
