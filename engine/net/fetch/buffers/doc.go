// Package buffers has the memory for responses: a few sizes of buffers, and a counted number of each.
//
// A Pool lends them. Take returns the smallest free one that is large enough. TakeOrWait waits for one, in order of
// arrival; a holder of a largest buffer never waits, so not all can wait for each other. Buffers are made when needed,
// and those that were not needed for a while are released. A Pool is safe for concurrent use.
package buffers
