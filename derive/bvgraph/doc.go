// Package bvgraph writes and reads graphs in the BV format of the WebGraph framework (Boldi and Vigna, WWW 2004), which
// users of web graphs expect: NAME.graph, NAME.offsets and NAME.properties.
//
// It knows only numbers: nodes from 0 on and, for each node in order, its successors. It has the parameters that
// WebGraph has by default: window 7, reference chains of at most 3, intervals of at least 4, zeta codes with k = 3.
// The Reader reads graphs with other windows and interval lengths too, but no other codes.
//
//	successors of node x --> reference to one of the 7 nodes before (the cheapest) --> blocks to copy
//	                     --> what is left: intervals, then residuals --> instantaneous codes --> bits
//
// Lists that are similar to those of the nodes before need few bits: URLs should be sorted.
//
// # Promises
//
//   - BV1: the Reader returns the lists that the Writer was given.
//   - BV2: no bytes make the Reader panic, hang, or use more memory than the lists of its window. A list has at most as
//     many successors as the graph has nodes.
//
// A Writer or Reader belongs to one goroutine. Add borrows its list. The result of Next is valid until the next call.
package bvgraph
