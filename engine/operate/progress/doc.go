// Package progress keeps logs/progress.tsv: a line with the state of the crawl every 20 s, kept over restarts. Its
// columns are those of docs/logs.md. At 8 MiB, which are some weeks, the file becomes progress.tsv.1 and replaces the
// one before it. Run is the only goroutine that uses a Recorder. A line that cannot be written is lost, and the crawl
// goes on.
package progress
