// Package counters counts what the crawl has done. Live is the form that many goroutines add to; Totals is a copy of
// it for checkpoints and reports. The counts balance (E1), see Totals.
package counters
