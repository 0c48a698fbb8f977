// Package golden compares what the current version writes with golden files: files that an earlier version wrote,
// checked in.
//
// A golden file has the number of its format in its name and is never changed. The SHA-256 of each stands in the test
// that reads it, and a test of bench/golden compares all of them. So a commit that changes a format on purpose adds a
// file with the next number, and shows the new sum in its diff. Files of earlier formats stay as long as this version
// reads them.
//
//	*/testdata/golden/            the bytes of known values, for each codec (golden_test.go)
//	bench/golden/testdata/golden/ whole crawl directories
//
// To make files for a new number, run the test of the package with -golden.write. It writes files that do not exist,
// never replaces one, and prints the sums.
//
// Messages between agents have no golden files: another transport is going to replace their form, and agents of
// different versions need not understand each other before a release. The control API and the names of the metrics have
// one in engine/operate/control.
//
// Of the product the package imports only internal/vfs, so that every test may use it.
package golden
