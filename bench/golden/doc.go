// Package golden tests that this version resumes crawl directories that an earlier version wrote.
//
// A golden directory is a tar.zst of a crawl, of the log of the simulated web, and of the time at which the crawl
// stopped. A test unpacks it into memory, moves the virtual clock to that time, and lets the current version resume it.
// Then it compares the whole archive with the ground truth of the web. internal/golden has the rules of golden files.
package golden
