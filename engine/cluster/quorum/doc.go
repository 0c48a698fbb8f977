// Package quorum is --quorum: an agent fetches only with a lease of a majority of the agents, and acts by the ownership
// view that the majority has agreed on. The consensus itself is package consensus. None is the form without --quorum:
// each side of a partition goes on.
//
//	Propose        what this agent sees of the others becomes a proposal; the agreed view comes back
//	ActByAgreed    the agent has put that view in force: exchanges with hosts of other agents are cancelled
//	FollowLease    follows whether this agent may fetch, and cancels all exchanges when its lease ends
//	BeginExchange  registers an exchange, so that it can be cancelled
//
// # Promises
//
// Those of package consensus, for exchanges: none goes on after the lease of the agent has ended, or after its host has
// another owner in the agreed view. An agent that may have missed a view leaves all hosts alone for a while
// (Agreement.MissedView).
//
// # Goroutines
//
// FollowLease is one. Propose and ActByAgreed are called by one goroutine, the one that follows membership. Everything
// else is safe for concurrent use.
package quorum
