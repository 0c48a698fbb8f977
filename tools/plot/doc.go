// Command plot draws the results of benchmarks with gonum.org/v1/plot. It is a module of its own.
//
//	plot bench/results docs/plots
//
// It reads the JSON and the tables that the benchmarks printed, and writes one SVG for each entry of plots whose
// results exist. The same files give the same bytes.
package main
