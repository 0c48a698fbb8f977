// Package counters counts what the crawl has done. Set declares each counter once, with its names in report.json, in
// the manifest and among the metrics as tags. Live is the form that many goroutines add to; Totals is a copy of it for
// checkpoints and reports. The counts balance (E1), see Set.
//
//	add a counter: a field of Reported with json, metric and help; count it with Live within a step
//	Live.Load -> Totals -> manifest (MarshalJSON) and report.Collector -> Report, metrics
package counters
