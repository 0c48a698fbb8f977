// Package gossip measures membership: groups of 10, 100 and 1,000 agents of engine/members in one process, on a network without sockets, in
// real time or at a pace of the caller's. It kills agents and starts them again, and says when each of the others knew; and what the groups
// say to each other while nothing happens.
//
// Small groups run many at a time, so that there are as many deaths to look at. Beside that it asks engine/ring who has which hosts before
// and after a death.
//
// Everything runs on the cores of one machine: if those are busy, agents are late, and the figures are those of a starved group. CPU says so.
package gossip
