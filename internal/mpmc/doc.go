// Package mpmc is a bounded first-in first-out queue for many producers and many consumers. It is lock-free as long as
// no goroutine has to wait. Two of them connect the fetch workers with the workbench.
//
// It does not grow, drop or reorder values. It starts no goroutine and has no global state, so it works in a
// testing/synctest bubble. It is not wait-free: an operation yields to another one that is incomplete.
//
// The structure is a ring of slots, and two counters that only grow:
//
//	head: next to take            tail: next to put; its top bit means closed
//	  |                             |
//	  v                             v
//	[ 5 ][ 6 ][ 7 ][ 8 ][   ][   ][   ]     position p is in slot p mod capacity, on lap p div capacity
//
// The turn of a slot tells which operation may use it: 2*lap, the putter of that lap; 2*lap+1, the taker. An operation
// claims a position by moving a counter, copies the value, and increments the turn of the slot. So the two sides share
// only the turns, and neither writes the counter of the other.
//
// That is the ring, which never waits. A goroutine that must wait parks on a channel of its side (takers, putters). If
// the ring is empty and a taker is parked, a value is handed to it directly. wait.go explains why no wake-up is lost.
//
// Promises: each value comes out once, in the order of positions. Put succeeds if and only if TakeNext will return the
// value, also with Close. TryPut fails only if the queue was full or closed at a moment during the call, TryTake only
// if it was empty. The queue does not keep a taken value alive.
//
// Costs: no allocation; memory of capacity times (56 bytes and the size of a T). Times for values of 136 bytes on two
// cores (queue_bench_test.go), with a buffered channel for comparison: 34 ns for a Put and a Take without waiting, 37
// for the channel. 57 ns per value put while 4,000 takers wait, 50 for the channel. 430 ns for a round trip in which
// each value is waited for, 310 for the channel, which needs no second check before it parks. In the engine there is no
// measurable difference: docs/adr/0033-queue-or-channel.md. The build tag mpmc_channel replaces the queue by a channel,
// to measure this.
package mpmc
