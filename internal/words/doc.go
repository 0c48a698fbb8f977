// Package words makes the features of a text that near-duplicates have in common: hashes of its words, and of runs of
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
package words
