// Package mpmc is a bounded first-in first-out queue for many producers and many consumers, lock-free as long as nobody has
// to wait. The fetch workers meet the workbench through two of these.
//
// What it is not: it does not grow, drop or reorder, starts no goroutine and keeps nothing outside the value, so it may
// live in a testing/synctest bubble. It is not wait-free: an operation that meets another one half-way done yields to it.
//
// The picture: a ring of slots, and two counters that only grow.
//
//	head: next to take            tail: next to put; its top bit says closed
//	  |                             |
//	  v                             v
//	[ 5 ][ 6 ][ 7 ][ 8 ][   ][   ][   ]     position p lives in slot p mod capacity, on lap p div capacity
//
// A slot's turn says whose it is: 2*lap, the putter's of that lap; 2*lap+1, the taker's. One claims a position by
// moving a counter, does his copy, and passes the slot on by raising its turn. So the two sides share no word but the
// turns, and neither writes a counter of the other.
//
// Who has to wait parks on a channel of his side (takers, putters). If the ring is empty and a taker is parked, a value goes
// to him directly. How no wake-up is lost is argued in wait.go.
//
// The promises: what went in comes out once, in the order of positions; Put succeeds if and only if Take will have it,
// Close or not; TryPut fails only if the queue was full (or closed) at a moment during the call, TryTake only if it was
// empty; a value that was taken is not kept alive by the queue.
//
// What it costs: no allocation; capacity times (56 bytes and the size of a T) of memory. Time next to a buffered channel,
// for values of 136 bytes on two cores (queue_bench_test.go): 34 ns for a Put and a Take if nobody waits, 37 for the
// channel; 57 ns for each of many values put while 4,000 takers wait, 50 for the channel; 430 ns there and back if each
// value is waited for on both ways, 310 for the channel, which needs no second look before it parks. In the engine no difference
// is seen: docs/adr/0033-queue-or-channel.md. The build tag mpmc_channel puts a channel in its place, to measure that.
package mpmc
