// Package ring computes which agent owns a host, from the identifiers and capacities of the agents alone. Agents with
// the same members compute the same owner, in any build and on any machine. No message is needed.
//
//	host name --xxh3-64--> key --Owner--> member
//
// There are two implementations of Assignment:
//
//   - Consistent is identifier-seeded consistent hashing as in UbiCrawler (Boldi, Codenotti, Santini, Vigna:
//     UbiCrawler, a scalable fully distributed web crawler, 2004). Each member has replicas on a circle of 2^64 points,
//     at positions that depend on its identifier only. A host belongs to the nearest replica in either direction.
//   - Rendezvous is weighted rendezvous hashing (Thaler, Ravishankar 1998; weights by Schindelhauer, Schomaker 2005).
//     Each member draws a number for the host, and the best number in proportion to capacity wins.
//
// # Promises
//
//   - O1: the owner depends on the key and on the set of members only, not on the order of the members or on history.
//   - O2: a host moves only to a member that was added or has more capacity, or from a member that was removed or has
//     less. No host moves between two members that did not change (contravariance).
//   - O3: the shares of the members are in proportion to their capacities.
//   - O4: the owner is the one that docs/ring.md defines, to the bit. The page has test vectors for other programs.
//
// # Ownership and limits
//
// An Assignment never changes, so it is safe for concurrent use. Other members need another Assignment. Constructors
// copy the members that they get. Slices that an Assignment returns belong to it and must not be changed. An Assignment
// has 1 to 65,536 members, each of a capacity of 1 to MaxCapacity. Consistent has at most 2^27 replicas. A constructor
// refuses anything else with ErrMembers.
package ring
