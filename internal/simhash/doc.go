// Package simhash makes fingerprints of texts that differ in few bits if the texts differ in few words (Charikar), and
// finds them (Manku, Jain and Das Sarma: Detecting near-duplicates for web crawling, 2007).
//
// It knows no text: package words makes the features. It knows no page: the caller keeps which page has a fingerprint.
//
//	features --Of--> 64 bits --Find--> [ table by bits 0-15 | 16-31 | 32-47 | 48-63 ] --> all within Distance
//
// Two fingerprints with at most three different bits are equal in at least one of four blocks of 16 bits. So there are
// four tables, each with all fingerprints in lists by one block. Find compares four lists.
//
// # Promises
//
//   - SH1: Find gives each fingerprint within Distance once, and no other.
//
// # Ownership
//
// One goroutine uses a Tables at a time.
//
// # Costs
//
// 32 bytes a fingerprint, up to an eighth more in lists that grow, and 6 MiB. Find makes 4 lookups and compares
// n/65,536 fingerprints in each, if they are spread evenly: 6,100 for 10^8. bench/results/neardup.md has figures.
//
// # The part words
//
// This part makes the features of a text that near-duplicates have in common: hashes of its words, and of runs of
// words (shingles).
//
// It does not compare texts: packages simhash and minhash do. It stores nothing.
//
//	text --> words: lower case, no accents, no punctuation, numbers are "0" --> hash of each --> hash of each n in a row
//
// The normalisation follows FineWeb's. Words are separated by white space only, so "don't" is "dont". In scripts
// without spaces between words (Chinese, Japanese, Thai and others) each character is a word.
//
// Hashes are XXH3 without a seed: equal in all runs and on all machines. A site may make collisions on purpose.
//
// A Hasher belongs to one goroutine. Its memory is that of the longest word, at most 256 bytes; the rest of a longer
// word is left out.
package simhash
