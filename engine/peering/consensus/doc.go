// Package consensus keeps what the agents of a cluster must agree on when at most one side of a partition may fetch:
// the voters, and the ownership view. Underneath is hashicorp/raft. The voters are raft's configuration. The view is
// the last entry of raft's log that holds one; this package does not read it.
//
// # Lease
//
// An agent may fetch while it has a lease. It asks the leader for one and says by which view it acts. The leader then
// appends an entry to the log. When a majority has stored this entry, and no newer view stands before it in the log,
// the lease is granted: for Lease, from the moment of the question by the clock of the asker. The entry proves that
// the leader was the leader after the question, so a later view is committed after the question, too. An agent that
// finds that something is its own by a new view leaves it alone for Takeover, from the moment it learnt of the view.
// Takeover is longer than Lease: clocks may differ in rate by that much. No clock is compared with another one.
//
// # Why a thing has one user
//
// A thing is a host, or an IP address whose leases an agent grants. Let view v give thing x to agent A, and let a
// later view give it to agent B. Let c be the moment at which the first view after v was committed that does not give
// x to A.
//
//   - A uses x only under a lease by v, or by an earlier view. The proof of this lease stands before that next view
//     in the log, and was appended after A asked. So A asked before c, and stops before c + Lease.
//   - B learns of the view that gives it x after c, and begins Takeover after that at the earliest. Each view that B
//     has missed counts as one that gave x to another agent, so B begins to count when it learns of the last one.
//   - Lease is counted by the clock of A, Takeover by that of B. So A has stopped when B begins, if in this time the
//     clock of A runs at most Takeover/Lease times slower than that of B: 20 percent.
//   - If A skips views and gets x back, its lease by v is the same as above: it ends before c + Lease, and B had to
//     hold a later view for Takeover before it began. A begins again Takeover after it learnt of the view that it
//     skipped to.
//
// What x allows may outlast the lease of A. A request to a host does not: it is cancelled when the lease ends. A
// lease of an IP address does: A may grant one just before c + Lease, for 8 s at most. It is not renewed by an agent
// that has learnt of a view with another granter (leasing.Holder.FinishLeases). An exchange under it ends at its
// end, whatever the new granter says: the previous one may not know, and may grant the address to another agent. So
// all leases of A end before c + 18 s. The engine leaves alone what is its own by a new view for Takeover and 10 s
// more, or the delay of a host: 22 s at least.
//
// All that agents must agree on is in the view: also the agents that are away, which own hosts and grant no leases.
// The argument needs each decision on the owner of a thing to follow from the view alone, and from nothing that agents
// may see differently at the same time.
//
// # Voters
//
// The leader adds an agent that asks for that and that its own membership has, too. It removes an agent that its
// membership has lost, and an agent that asks for that since it stops. An agent whose disk was lost has a new raft
// ID: it is a new voter, and nothing that the old one promised is forgotten.
//
// # Beginning
//
// The log begins once. The agent with the first name among those that begin a crawl asks all others for a pledge. A
// pledge is durable: its giver joins this log and no other, until its founder says that it has withdrawn. With all
// pledges the founder begins the log, with itself as the only voter; the others then ask to be added.
//
// # Promises
//
//   - CS1: at no moment do two agents hold leases and own one thing, by whatever views, if both keep Takeover.
//   - CS2: an agent that no majority answers, directly or by the leader, has no lease after Lease.
//   - CS3: a majority that can talk elects a leader, and its agents have leases again within seconds. A question and
//     its answer must take less than heartbeatTime.
//   - CS4: what an agent has promised is durable before it is said; all agents can be killed and started again.
//   - CS5: voters can be added, removed and lost one after the other, down to one.
//
// Raft trusts its members: an agent with a certificate of the crawl that sends wrong terms can stop the others. It
// cannot make them panic: entries that cannot be decoded are refused. So are snapshots that end before the log.
package consensus
