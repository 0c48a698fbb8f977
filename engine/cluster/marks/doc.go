// Package marks writes the lists of captures that captures of other agents supersede. A list is a file of CDXJ lines in
// the crawl directory; docs/formats.md describes it. Several agents may have stored the same page when hosts moved
// between them. At the end of a crawl each agent marks its own copies, and engine/check/audit marks what is left.
package marks
