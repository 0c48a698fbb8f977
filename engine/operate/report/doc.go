// Package report is report.json and what stands in it.
//
// A Report is the record. Write replaces the file in one step, and Read reads it. A Collector makes reports of a crawl:
// it reads the counters of the journal while all of them belong to the same step, and the numbers of the components
// one after the other. It keeps nothing, so a report costs the crawl one short step.
//
//	Engine.Report, every 5 s and for `ctl status` -> Collector.Report -> counters.Live.Load, the components
//	what the crawl waits for                      -> Collector.waiting: disk, pause, this machine, network,
//	                                                 parsers, servers, names, politeness, sieve
//
// control serves a Report as metrics; cmd prints it; engine/check/fsck compares report.json with the manifest.
//
// # The part progress
//
// This part keeps logs/progress.tsv: a line with the state of the crawl every 20 s, kept over restarts. Its
// columns are those of docs/logs.md. At 8 MiB, which are some weeks, the file becomes progress.tsv.1 and replaces the
// one before it. Run is the only goroutine that uses a Recorder. A line that cannot be written is lost, and the crawl
// goes on.
package report
