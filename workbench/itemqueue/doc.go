// Package itemqueue holds the items of one site of a workbench in memory, in the order in which they leave: urgent
// items first, and each class in the order in which it was pushed.
//
// A Queue belongs to its caller, which guards it. It copies items in and out. Its invariants are checked by the
// workbench (promise W4).
package itemqueue
