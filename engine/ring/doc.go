// Package ring says which agent is responsible for a host, from the agents' names alone: whoever knows the same agents gives the
// same answer, in any build and on any machine, and asks nobody.
//
//	host name --xxh3-64--> key --Owner--> member
//
// There are two assignments of one form.
//
//   - Consistent is identifier-seeded consistent hashing as in UbiCrawler (Boldi, Codenotti, Santini, Vigna: UbiCrawler, a scalable
//     fully distributed web crawler, 2004). Each member has replicas on a circle of 2^64 points, at places that its identifier gives,
//     and a host belongs to the nearest replica in either direction.
//   - Rendezvous is weighted rendezvous hashing (Thaler, Ravishankar 1998; weights by Schindelhauer, Schomaker 2005): each member
//     draws a number for the host, and the best by capacity has it.
//
// Both are contravariant: when a member comes, hosts go to it and to nobody else; when it leaves, the others keep what they had. Both
// give shares in proportion to capacity. docs/ring.md has the arithmetic to the bit and test vectors.
//
// An assignment never changes: another set of members is another assignment. It is safe for concurrent use.
package ring
