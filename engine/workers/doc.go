// Package workers is a chapter of the engine, without code of its own: it has the loops that do the work of a page:
// thousands of fetch workers, and a parse worker for each processor.
//
//	fetchers  Visit -> checks -> exchange -> what follows; robots.txt; the table of checks; how many loops there are
//	parsers   Page -> links, record (response or revisit), journal entry
//	archive   options and opening of the WARC files
package workers
