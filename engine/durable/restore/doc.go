// Package restore brings a crawl from its last checkpoint to where its journal ends, before anything is fetched.
//
// The components are open as they were at the checkpoint. Crawl.Restore gives URLs in flight back to their sites. Then
// it replays the journals: each entry is a finished attempt, whose page is read from the archive again. The replay
// counts it, marks its URL as finished, offers its links to admission, restores rules of robots.txt, the state of the
// site and its due times, and gives messages of other agents to the cluster.
//
//	engine.Open -> Crawl.Restore -> checkpoint.ReadInFlight -> putBack: sites.Table
//	                             -> replay -> journalReader: journal.Read -> recordReader: warc.Archive, links.Finder
//	                                       -> replayer.apply, in the order of the journal -> admission.Frontier.AddAll
//	engine.Open -> Crawl.BeginPass: a new pass keeps the due times of sites, and nothing else of the frontier
//
// Promise: an attempt of the journal is applied once, and its URL is not fetched again. If the archive ends before the
// journal, because the disk lost what was not synced, the rest of the journal is dropped, and its URLs are fetched
// again. A replay takes no more memory than the crawl did.
//
// The goroutines of a journalReader end before Restore returns. Nothing else may use the components meanwhile.
package restore
