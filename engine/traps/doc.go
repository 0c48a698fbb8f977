// Package traps is a chapter of the engine, without code of its own: it finds parts of a site that have ever more URLs
// and nothing new, and delays or skips them.
//
//	novelty  how much new content a part of a site has brought
//	traps    which URLs are delayed or skipped for it
//	skipped  the list of skipped URLs, on disk
//
// Promises: X1 to X6. docs/traps.md has the method and its figures.
package traps
