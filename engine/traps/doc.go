// Package traps finds parts of a site that look like a trap: they have ever more URLs and nothing new. It delays or
// skips these URLs. It applies engine/traps/novelty, which judges groups of pages, to the URLs and sites of a crawl.
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
//
// SkippedList has the URLs that were left out, on disk, with the rule and its evidence. A resume whose settings leave
// out less queues them again. The format is in docs/formats.md.
//
// Promises: X1 to X6, of package novelty. docs/traps.md has the method and its figures.
package traps
