// Package netns makes network namespaces that are joined with each other and with nothing else, so that real processes
// can be cut apart.
//
//	hub        its own user and network namespace: two bridges, one and other
//	member k   its own network namespace, 10.77.0.k, joined to bridge one by a pair of devices
//
// A Part of the members is moved to the other bridge, where they reach only each other. What is Lost goes
// one way only: frames to that member carry a hardware address without owner, so that they vanish without a word, and
// what it sends arrives.
//
// It takes no root where users may make user namespaces (user_namespaces(7), network_namespaces(7)), and the tools
// unshare, nsenter, sh, cat and ip. Each namespace is kept by a process that reads from a pipe to this one: they go
// when Close is called, or when this process dies. No route leads out, and what is made and cut inside has no effect
// outside. A process that has entered a namespace keeps it until it ends: end it first.
package netns
