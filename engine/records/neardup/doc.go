// Package neardup knows the texts of the pages that a crawl has stored, by fingerprints of 64 bits (SimHash), so that a
// page whose text differs in few words from that of an earlier page is found when it arrives (--near-duplicates).
//
//	text -> Reader: words -> SimHash, none for a short text
//	Find: simhash.Tables, in memory -> the nearest fingerprint within simhash.Distance bits -> dedup.Map: its first page
//	Add:  a fingerprint with nothing near it -> simhash.Tables and dedup.Map
//
// It does not decide what follows: package parsers does. Equal payloads are found by package dedup. The detector of
// traps (package novelty) compares a page with its own site only, and by single words.
//
// Only the first of some near pages is kept. So a page is compared with first pages, and a long series of pages, each
// with a few more words than the one before, does not count as one.
//
// The map is on disk, in the checkpoint, and the tables are made of it by Open. Pages that were stored after the last
// checkpoint before a kill are forgotten: later ones are not compared with them. A page that is fetched again finds
// itself, by its URL, and that does not count.
//
// A Pages is safe for concurrent use. It starts no goroutine. A Reader belongs to one goroutine.
//
// Memory is 32 to 36 bytes for each fingerprint and 6 MiB, and that of the map's index. There are at most Options.Most
// fingerprints; beyond, pages are compared and not added.
package neardup
