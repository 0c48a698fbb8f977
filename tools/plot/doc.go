// Command plot draws the results of benchmarks.
//
//	plot bench/results docs/plots
//
// It reads what the benchmarks printed, their JSON and their tables, and writes one SVG for each Plot of plots.go whose
// results are there. A plot is a function of its files: the same files make the same bytes. The pictures carry a style sheet of
// their own and are readable on a light and on a dark page.
package main
