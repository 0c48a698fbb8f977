// Package check is a chapter of the engine, without code of its own: it judges what a crawl has left on disk, without
// the code that wrote it where that is possible.
//
//	fsck   whether a directory is whole
//	audit  which agent's copy of a page counts
//	gaps   proves from WARC files that the delays between requests were kept
//
// Promises: I1 to I4, U1 to U3.
package check
