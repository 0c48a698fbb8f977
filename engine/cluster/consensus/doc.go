// Package consensus keeps what the agents of a cluster must agree on when at most one side of a partition may fetch:
// the voters, and the ownership view. Underneath is hashicorp/raft. The voters are raft's configuration. The view is
// the last entry of raft's log that holds one; this package does not read it.
//
// # Lease
//
// An agent may fetch while it has a lease. It asks the leader for one and says by which view it acts. The leader then
// appends an entry to the log. When a majority has stored this entry, and no newer view stands before it in the log,
// the lease is granted: for Lease, from the moment of the question by the clock of the asker. The entry proves that the
// leader was the leader after the question, so a later view is committed after the question, too. An agent that finds
// that something is its own by a new view leaves it alone for Takeover, from the moment it learnt of the view. Takeover
// is longer than Lease: clocks may differ in rate by that much. No clock is compared with another one.
//
// # Voters
//
// The leader adds an agent that asks for that and that its own membership has, too. It removes an agent that its
// membership has lost, and an agent that asks for that since it stops. An agent whose disk was lost has a new raft ID:
// it is a new voter, and nothing that the old one promised is forgotten.
//
// # Beginning
//
// The log begins once. The agent with the first name among those that begin a crawl asks all others for a pledge.
// A pledge is durable: its giver joins this log and no other, until its founder says that it has withdrawn. With all
// pledges the founder begins the log, with itself as the only voter; the others then ask to be added.
//
// # Promises
//
//   - CS1: at no moment do two agents hold leases and own one thing, by whatever views, if both keep Takeover.
//   - CS2: an agent that no majority answers, directly or by the leader, has no lease after Lease.
//   - CS3: a majority that can talk elects a leader, and its agents have leases again within seconds.
//   - CS4: what an agent has promised is durable before it is said; all agents can be killed and started again.
//   - CS5: voters can be added, removed and lost one after the other, down to one.
//
// Raft trusts its members: an agent with a certificate of the crawl that sends wrong terms can stop the others. It
// cannot make them panic: entries that cannot be decoded are refused.
package consensus
