// Command hostilescore runs every test of a hostile input, anywhere in the two modules, and prints the score by family.
//
//	hostilescore [PAGE]
//
// A test that proves case H01 is called TestHostile_H01_whatIsExpected, or TestG01_whatIsExpected for case G01,
// wherever it lives; there may be several, and all must pass. A story of bench/scenario has such a name without Test.
// The cases are those of bench/hostile.Catalogue. A case
// without a test is open, and held.go says which are known to be: any other is a fault, as is a test that fails or that
// proves an unknown case. With PAGE the score and all cases are written to that file, as Markdown.
package main
