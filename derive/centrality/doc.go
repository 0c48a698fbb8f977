// Package centrality computes statistics and ranks of a graph in BV format: degrees, PageRank and harmonic centrality.
//
// It makes no graph: package graph does.
//
//	NAME.graph --> Graph.Each --> Degrees
//	                         --> PageRank: rank of each node, 30 to 130 rounds
//	                         --> Harmonic: nodes within distance 1, 2, 3 ... as sets or HyperLogLog counters
//
// PageRank is that of a random surfer. With probability alpha the surfer follows a link of the page. Otherwise, and at
// a page without links, the surfer goes to any page. The ranks have the sum 1. Rounds end when they change by less than
// a tolerance in all.
//
// The harmonic centrality of x is the sum of 1/d(y,x) over all other y, the distance from y to x. The number of nodes
// within each distance is counted as HyperBall does (Boldi and Vigna, 2013). Graphs that are small enough for sets are
// counted exactly. For others each node has registers, and the relative standard error of a count is 1.04 / sqrt(m).
//
// # Costs
//
// Memory: 16 bytes for each node for PageRank, and 8 for each result. Harmonic takes at most Options.Memory besides.
// Arcs take 4 bytes each and 8 for each node, if that is at most a quarter of Options.Memory. Then the file is read
// once, and a round takes a fraction of the time. Otherwise each round reads it.
package centrality
