// Package completeness is a gate: with the default settings, a crawl of a real, finite site stores all its pages.
//
// The sites are skeletons of two documentation packages of Debian, which tools/skeleton made: the paths, links and
// images of the real pages, and the real sequence of words, each replaced by its rank. So pages resemble each other as
// the real ones do, and no text of others is in this repository. Before there was --trap-floor, a crawl
// stored 2,564 of the 9,980 and 2,306 of the 3,138.
//
//	rustdoc   9,980 URLs of rust-doc 1.63: core/arch/x86 and x86_64, a page for each function, and four chapters
//	doxygen   3,138 URLs of libstdc++-12-doc: the lists, and pages of at most 14,000 bytes with their graphs
//
// A Site is a guest of the simulated web, in virtual time. So the test needs no network and no package, and cannot be
// skipped. make realsite crawls the real ones, and more.
package completeness
