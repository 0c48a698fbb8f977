// Package traps decides which URLs and sites look like parts of a trap (an endless set of pages without new content).
// It applies engine/traps/novelty, which judges groups of pages, to the URLs and sites of a crawl.
//
// The chain of the decision, for one URL:
//
//	schedule: the path repeats its folders          RepeatsFolders     -> skipped
//	schedule: its site is new, its domain a trap    AdmitSite          -> delayed or skipped
//	schedule: the pages of its part bring nothing   ShouldDelay        -> delayed: behind all other URLs of its site
//	schedule: it has a shorter form                 ShortURL           -> delayed, and the short form is admitted
//	schedule: a delayed URL has its turn            ReleaseDelayed     -> fetched, or skipped
//	parsers:  a page is parsed                      NotePage           -> evidence for the decisions above
//
// engine/frontier/schedule and the quotas of new sites ask; the parsers report. Without --novelty the Detector is
// disabled: it delays and skips nothing, and its methods return at once.
package traps
