// Package bench holds the benchmarks of the program, and the demo.
package bench
