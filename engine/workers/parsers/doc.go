// Package parsers turns fetched Pages into links, WARC records and journal entries.
//
//   - Crawl is what all parse workers of a crawl share. Other packages implement Admission, Sites and AnsweredURLs;
//     cluster.Alone is the null implementation of AnsweredURLs.
//   - Worker handles one Page at a time. There is about one Worker per core. NewWorker makes it, and Run is its loop.
//   - MetadataMode says which captures get a metadata record.
//   - FaultFiles keeps the input of parses that panicked.
//
// A Worker holds the Page that it takes from Crawl.Pages until it returns it to the pool (promise B1 of
// engine/net/fetch). The records, the journal entry, the links and the counters of an attempt change in one step
// (promise E1 of engine): after an error, none of them has changed, and the URL is still in flight.
//
// The way of a Page, in the order of the code:
//
//	Worker.Run        takes it, and returns it to the pool at the end
//	Worker.handle     content: its payload, or the stored payload if the server says that the page is unchanged
//	extractor.extract finds the links, unless the same payload was parsed in the same directory before
//	extractor.followRedirect      takes the target of a redirect, or has it asked again (redirects.go)
//	nearFinder.compare            compares its text with those of earlier pages (--near-duplicates)
//	recordBuilder.plan, encode    looks for an equal payload; encodes response or revisit, request and metadata record
//	Worker.askHook    asks the program of the user (--hook) for more links
//	Worker.store      waits for room in sieve and on disk, then takes the step: Worker.settle
//	Worker.settle     journal.Store.Write -> Worker.count -> Worker.admitLinks -> attempt.InFlight.Remove
//	Worker.noteNovelty            tells the trap detector whether the page contained new content
//
// A page is not stored if the limit of pages was reached meanwhile, and is fetched again without conditions if its
// stored payload cannot be read: its URL returns to the front of its site's queue.
package parsers
