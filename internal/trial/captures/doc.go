// Package captures reads the archive of a crawl as the list of captures that the judge of the simulated web compares
// with its ground truth. It reads through package warc and accepts no fault in a record.
package captures
