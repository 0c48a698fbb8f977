// Package cputime measures the processor time of a piece of work, for tests of what grows faster than its input. On a
// busy machine the clock on the wall tells what others do; the time of one thread does not. No code of the product
// imports it.
//
// What the work starts in other goroutines does not count.
package cputime
