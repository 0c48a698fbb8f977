// Package handoff is a bounded queue from one goroutine to many. The Feeder gives Visits to the fetch workers with it.
//
// A taker that finds a value takes it without a lock: it reads the pointer, and then claims it by moving head. The
// putter writes a slot again only when head is past it, so no taker ever waits for another goroutine that is in the
// middle of an operation.
//
//	head: next to take            tail: next to put, moved by the putter alone
//	  |                             |
//	  v                             v
//	[ 5 ][ 6 ][ 7 ][ 8 ][   ][   ][   ]     position p is in slot p mod the number of slots
//
// A taker that finds none waits. The one that came last gets the next value, before the slots: its stack and its
// buffers are those that are still in the CPU's cache, and with thousands of workers most are never touched. A channel
// wakes the one that has waited longest. The list of waiting takers has a lock, which a taker holds for a few
// instructions, and the putter once for each batch.
//
// Promises: each value comes out once. Values that no taker waits for come out in order. A value never waits in the
// queue while a taker waits. The package starts no goroutine, allocates nothing for a value, and works in a
// testing/synctest bubble.
//
// For times beside a channel see queue_bench_test.go and docs/adr/0033-queue-or-channel.md.
package handoff
