// Package operate is a chapter of the engine, without code of its own: it is what an operator sees of a crawl and
// changes in it, while it runs and afterwards.
//
//	control                   HTTP for the operator; control/dashboard has the pages for a browser
//	operator, changes, inbox  questions and orders; settings that may change; URLs put into a directory
//	hosts, explain, doctor    why a host waits; what became of a URL; what limits the crawl
//	dryrun                    what would become of a URL
//	report                    report.json and progress.tsv
//	history, logreport        numbers over time; reports from crawl.log
//	feed, upload              what is new in the archive; closed files on their way to a receiver
//
// Promises: UL1 to UL6 (upload).
package operate
