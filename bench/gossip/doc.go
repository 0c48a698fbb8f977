// Package gossip measures membership: groups of 10, 100 and 1,000 agents of engine/members in one process, on a network without sockets, in
// real time or at a pace of the caller's. It kills agents and starts them again, and says when each of the others knew; and what the groups
// say to each other while nothing happens.
//
// Small groups run many at a time, so that there are as many deaths to look at. Beside that it asks engine/ring who has which hosts before
// and after a death.
//
// Everything runs on the cores of one machine: if those are busy, agents are late, and the figures are those of a starved group. CPU says so.
// In virtual time nothing is late, however busy the machine is; that only a test can have:
//
//	go test ./bench/gossip -run Virtual -v -sizes 10,100,1000 -deaths 5 -timeout 1h
//
// What that costs is the joining: each agent hears of each other some times, which is n squared messages times the digits of n; a death costs n.
package gossip
